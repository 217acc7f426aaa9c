/* Preloaded in leak checks: replaces dlclose, so that libraries stay loaded and leak reports
 * contain their names, which leaks_of_mpi.txt matches. */
int dlclose(void* library);

int dlclose(void* library) {
  (void)library;
  return 0;
}
