// What it means when the loader does not load a library.
#pragma once

#include <string_view>

namespace nnfleet::parsers {

// True only where the loader says that there is no such file. Android also refuses files that exist but lie outside the
// app's namespace, or that miss something of their own: then the runtime may well be on the phone.
bool says_not_there(std::string_view loader_error, std::string_view library);

}  // namespace nnfleet::parsers
