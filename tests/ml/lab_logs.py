"""Files of labs in small, in the forms that the tools print; numbers are those of public logs."""

from __future__ import annotations

NPU_LOG = """\
STARTING!
Log parameter values verbosely: [0]
Num threads: [4]
Use NNAPI: [1]
NNAPI accelerator name: [qti-dsp]
INFO: Created TensorFlow Lite delegate for NNAPI.
NNAPI accelerators available: [qti-default,qti-dsp,qti-gpu,nnapi-reference]
INFO: Replacing 64 out of 64 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 1 partitions for subgraph 0 (main).
INFO: Replacing 9 out of 9 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 1 partitions for subgraph 2 (else).
Explicitly applied NNAPI delegate, and the model graph will be completely executed by the delegate.
The input model file size (MB): 10.6132
Initialized session in 371.513ms.
count=40 first=12629 curr=12700 min=12001 max=14000 avg=12650 std=300
count=78 first=12700 curr=12749 min=10196 max=16003 avg=12749.1 std=1191
Inference timings in us: Init: 371513, First inference: 12629, Warmup (avg): 12650, Inference (avg): 12749.1
Memory footprint delta from the start of the tool (MB): init=8.97656 overall=18.7227
Overall peak memory footprint (MB) via periodic monitoring: 12.5
"""

FALLBACK_LOG = """\
VERBOSE: Replacing 5 out of 64 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 5 partitions for the whole graph.
VERBOSE: Replacing 59 out of 62 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 5 partitions for the whole graph.
Inference timings in us: Init: 9340, First inference: 52000, Warmup (avg): 50100.5, Inference (avg): 50000
"""

OLD_CPU_LOG = """\
05-30 15:16:44.857  3380  3380 I tflite  : Replacing 211 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 43 partitions.
05-30 15:16:45.957  3380  3380 I tflite  : count=1 curr=1381510
05-30 15:16:46.057  3380  3380 I tflite  : Average inference timings in us: Warmup: 27917.4, Init: 21528106, no stats: 23313.5
Timings (microseconds): count=9 first=1 curr=1 min=1 max=1 avg=1 std=0
"""

LITERT_LOG = """\
INFO: Replacing 470 out of 476 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 7 partitions for subgraph 0 (main).
INFO: [./litert/tools/benchmark_litert_model.h:72]
========== BENCHMARK RESULTS ==========
INFO: [./litert/tools/benchmark_litert_model.h:73] Model initialization: 5.76 ms
INFO: [./litert/tools/benchmark_litert_model.h:75] Warmup (first):       2.12 ms
INFO: [./litert/tools/benchmark_litert_model.h:77] Warmup (avg):         0.95 ms (526 runs)
INFO: [./litert/tools/benchmark_litert_model.h:79] Inference (avg):      0.95 ms (1054 runs)
INFO: [./litert/tools/benchmark_litert_model.h:83] Inference (min):      0.91 ms
INFO: [./litert/tools/benchmark_litert_model.h:85] Inference (max):      1.10 ms
INFO: [./litert/tools/benchmark_litert_model.h:107] Overall footprint:    7.07 MB
INFO: [./litert/tools/benchmark_litert_model.h:114] Peak memory usage not available. (peak_mem_mb <= 0)
"""

PROFILE_CSV = """\
Profiling Info for Benchmark Initialization:
============================== Run Order ==============================
node type, start, first, avg_ms, %, cdf%, mem KB, times called, name
AllocateTensors, 0, 1.5, 1.5, 100%, 100%, 20, 1, AllocateTensors/0

Operator-wise Profiling Info for Regular Benchmark Runs:
============================== Run Order ==============================
node type, start, first, avg_ms, %, cdf%, mem KB, times called, name
TfLiteNnapiDelegate, 0, 8, 8.25, 80%, 80%, 0, 1, [a, b]:2
SOFTMAX, 8.25, 2, 2.0, 20%, 100%, 0, 1, [out]:1

============================== Top by Computation Time ==============================
node type, start, first, avg_ms, %, cdf%, mem KB, times called, name
TfLiteNnapiDelegate, 0, 8, 8.25, 80%, 80%, 0, 1, [a, b]:2

============================== Summary by node type ==============================
node type, count, avg_ms, avg %, cdf %, mem KB, times called
TfLiteNnapiDelegate, 1, 8.25, 80%, 80%, 0, 1
"""

PERF_YAML = """\
precisions:
  w8a8:
    components:
      Net:
        performance_metrics:
          Galaxy S24:
            tflite: {inference_time_milliseconds: 2.5, job_id: j1, job_status: Passed,
                     layer_counts: {npu: 9, gpu: 0, cpu: 1, total: 10}, estimated_peak_memory_range_mb: {min: 1, max: 7}}
            qnn_dlc: {job_id: j2, job_status: Failed}
          Pixel 9:
            tflite: {inference_time_milliseconds: 30, job_id: j3, job_status: Passed}
"""
