/* Another name of g6lib.h that clients of the GRAPE-6 library include. */
#include "g6lib.h"
