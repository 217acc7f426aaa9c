// The library's C++ interface in one include.
#pragma once

#include "gdr/batch.hpp"
#include "gdr/chemistry.hpp"
#include "gdr/device.hpp"
#include "gdr/error.hpp"
#include "gdr/gravity.hpp"
#include "gdr/hermite.hpp"
#include "gdr/kernel.hpp"
#include "gdr/linear.hpp"
#include "gdr/machine.hpp"
#include "gdr/matrix.hpp"
#include "gdr/moving_sources.hpp"
#include "gdr/ranks.hpp"
#include "gdr/set_list.hpp"
#include "gdr/sets.hpp"
#include "gdr/statistics.hpp"
#include "gdr/timeline.hpp"
