/* A check that reports its position if it fails; test programs return the number of failures. */
#ifndef GDR_TEST_CHECK_H
#define GDR_TEST_CHECK_H

#include <stdio.h>

static int failures = 0;

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      ++failures;                                                                    \
      printf("%s:%d: failed: %s (last error: %s)\n", __FILE__, __LINE__, #condition, \
             gdr_last_error());                                                      \
    }                                                                                \
  } while (0)

#endif
