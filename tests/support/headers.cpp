// The program whose precompiled header all tests use; it is never run.
int main() { return 0; }
