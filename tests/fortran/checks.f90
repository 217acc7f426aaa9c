! Checks of the test programs: what fails is counted and printed.
module checks
  use gdr, only: gdr_last_error
  implicit none

  integer :: failures = 0

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    failures = failures + 1
    print *, "failed: ", what, " (last error: ", gdr_last_error(), ")"
  end subroutine check

end module checks
