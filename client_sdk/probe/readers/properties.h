// System properties of this phone, or of a capture.
#pragma once

#include "parsers/properties.h"

namespace nnfleet::readers {

// From `root`/getprop.txt where it exists, else from Android; empty where this is not Android.
parsers::Properties read_properties(const std::string& root);

}  // namespace nnfleet::readers
