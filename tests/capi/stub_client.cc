// The same client in C++.
#include "stub_client.c"
