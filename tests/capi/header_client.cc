// The client of header_client.c as C++: generated C headers compile in both languages.
#include "header_client.c"
