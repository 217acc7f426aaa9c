// A section whose operations are compiled on its first run.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/vector/doubles/translate.hpp"

namespace gdr::codegen {

/// Translates a section with a table of kernels.
using Translate = std::function<DoublesSection(const DoublesKernels&)>;

/// A section for `kernels`. With `fuse`, an instruction set, the first run replaces each list of
/// operations by one operation of machine code, if possible. Thread-safe.
class CompiledDoubles {
 public:
  CompiledDoubles() : plain_(std::make_shared<const DoublesSection>()) {}  ///< an unusable section
  CompiledDoubles(Translate translate, const DoublesKernels& kernels, std::optional<Isa> fuse);

  /// The translated section, for its properties.
  const DoublesSection& operator*() const { return *plain_; }
  const DoublesSection* operator->() const { return plain_.get(); }
  /// The section to run.
  const DoublesSection& ready() const;

 private:
  struct FirstRunCompilation;
  std::shared_ptr<const DoublesSection> plain_;
  std::shared_ptr<FirstRunCompilation> compiled_;  ///< null: not compiled
};

}  // namespace gdr::codegen
