/* Another name of sapporohostclass.h. */
#include "sapporohostclass.h"
