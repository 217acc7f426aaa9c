/* Another name of gp5util.h that clients of the GRAPE-5 library include. */
#include "gp5util.h"
