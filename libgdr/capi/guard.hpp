// Conversion of exceptions to status codes, and this thread's last error.
#pragma once

#include <new>
#include <string>

#include "gdr.h"
#include "gdr/error.hpp"
#include "gdr/ranks.hpp"

namespace gdr::capi {

/// Remember an error of this thread, and return its status.
gdr_status fail(gdr_status status, const char* message) noexcept;

/// Run `action` and turn whatever it throws into a status.
template <typename Action>
gdr_status guarded(Action&& action) noexcept {
  try {
    action();
    return GDR_OK;
  } catch (const RankFailure& error) {
    return fail(GDR_ERROR_RANK_FAILURE, error.what());
  } catch (const Error& error) {
    return fail(static_cast<gdr_status>(error.category()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(GDR_ERROR_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return fail(GDR_ERROR_INTERNAL, error.what());
  } catch (...) {
    return fail(GDR_ERROR_INTERNAL, "an unknown exception");
  }
}

/// Throws Error (Usage) for a null pointer.
inline void need(const void* pointer, const char* name) {
  if (pointer == nullptr)
    throw Error(ErrorCategory::Usage, "argument '" + std::string(name) + "' is a null pointer");
}

}  // namespace gdr::capi
