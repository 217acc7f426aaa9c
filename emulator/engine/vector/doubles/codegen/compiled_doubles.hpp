// A section whose operations are compiled on its first run.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "emulator/engine/engine.hpp"
#include "emulator/engine/vector/doubles/translate.hpp"

namespace gdr::codegen {

/// Translates a section with a table of kernels.
using Translate = std::function<DoublesSection(const DoublesKernels&)>;

/// A section for `kernels`. With `fuse`, the instruction set for which the host has code, the first
/// run replaces each list of operations by one operation of machine code, where that can be;
/// threads may share it.
class CompiledDoubles {
 public:
  CompiledDoubles() : plain_(std::make_shared<const DoublesSection>()) {}  ///< an unusable section
  CompiledDoubles(Translate translate, const DoublesKernels& kernels, std::optional<Isa> fuse);

  /// As it was translated: what can be said of the section.
  const DoublesSection& operator*() const { return *plain_; }
  const DoublesSection* operator->() const { return plain_.get(); }
  /// What is to be run.
  const DoublesSection& ready() const;

 private:
  struct Late;
  std::shared_ptr<const DoublesSection> plain_;
  std::shared_ptr<Late> late_;  ///< null: not to be fused
};

}  // namespace gdr::codegen
