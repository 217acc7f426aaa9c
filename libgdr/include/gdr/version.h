/* The version of the installed headers, for conditional compilation in C and C++. The version of
 * the library that a program runs with is gdr_version(), or gdr::version(). */
#ifndef GDR_VERSION_H
#define GDR_VERSION_H

#define GDR_VERSION_MAJOR 0
#define GDR_VERSION_MINOR 1
#define GDR_VERSION_PATCH 0
#define GDR_VERSION_STRING "0.1.0"

/* A number that grows with versions: #if GDR_VERSION_NUMBER >= GDR_MAKE_VERSION(0, 2, 0) */
#define GDR_MAKE_VERSION(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define GDR_VERSION_NUMBER GDR_MAKE_VERSION(GDR_VERSION_MAJOR, GDR_VERSION_MINOR, GDR_VERSION_PATCH)

#endif
