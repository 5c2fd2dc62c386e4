/* nnfleet probe: what this phone can do, as a CapabilityReport in JSON.
 *
 * Every step that touches a driver runs in a child process with a time limit, so a driver that aborts or hangs becomes
 * a fact in the report. The child is an executable (`nnfleet-probe`), not a fork of the app: Binder does not survive a
 * fork. The call blocks until all steps are done; it belongs on a background thread, once per build of the phone.
 */
#ifndef NNFLEET_PROBE_H
#define NNFLEET_PROBE_H

#define NNFLEET_PROBE_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

#define NNFLEET_PROBE_ABI 1

typedef enum {
  NNFLEET_PROBE_OK = 0,
  NNFLEET_PROBE_NOT_ANDROID = 1, /* manufacturer, model or API level cannot be read */
  NNFLEET_PROBE_BAD_OPTIONS = 2, /* another `abi`, or no options */
  NNFLEET_PROBE_TOO_LARGE = 3    /* the report would be larger than 256 KiB */
} nnfleet_probe_status;

/* Texts are UTF-8 paths, NULL where the default is meant. */
typedef struct {
  int abi;                    /* NNFLEET_PROBE_ABI */
  const char* executable;     /* `nnfleet-probe`; NULL: no driver is touched, only files and properties are read */
  const char* work_folder;    /* private, writable; NULL: the compilation cache is not measured */
  const char* root;           /* where /proc, /sys and getprop.txt are read; NULL: this machine */
  const char* library_folder; /* the only place libraries are loaded from; NULL: the system's own search */
  int silence_limit_ms;       /* a child that says nothing for so long is killed; 0: 5000 */
} nnfleet_probe_options;

/* The report, to be freed with nnfleet_probe_free; NULL unless *status is NNFLEET_PROBE_OK. `status` may be NULL. */
NNFLEET_PROBE_API char* nnfleet_probe_report(const nnfleet_probe_options* options, nnfleet_probe_status* status);

NNFLEET_PROBE_API void nnfleet_probe_free(char* report);

/* The probe's own version, as in the report. Never freed. */
NNFLEET_PROBE_API const char* nnfleet_probe_version(void);

#ifdef __cplusplus
}
#endif

#endif
