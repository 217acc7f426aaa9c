"""Python equivalents of every public name of the C++ and C headers.

test_api_table.py compares this table with the headers. A Python name is relative to the module gdr
("linalg.lu"), with a parameter in parentheses ("linalg.lu(block)") or a device option in brackets
("open[engine]"). WITHOUT gives the reason for each name without a Python equivalent.
"""

from __future__ import annotations

from typing import Dict


def same(cpp: str, python: str, names: str) -> Dict[str, str]:
    """Members with the same name in C++ and Python."""
    return {f"{cpp}.{name}": f"{python}.{name}" for name in names.split()}


PYTHON: Dict[str, str] = {
    "version": "__version__",
    "open_mpi": "open(comm)",
    # errors
    "Error": "Error",
    "Error.category": "Error.category",
    "ErrorCategory.Usage": "UsageError",
    "ErrorCategory.Input": "InputError",
    "ErrorCategory.Program": "ProgramError",
    "ErrorCategory.Io": "FileError",
    "ErrorCategory.Device": "DeviceError",
    "ErrorCategory.Unsupported": "UnsupportedError",
    "ErrorCategory.Internal": "InternalError",
    "RankFailure": "RankFailure",
    # devices
    "Device": "Device",
    "Device.open": "open",
    "Device.open_on_ranks": "open(comm)",
    **same(
        "Device",
        "Device",
        "job target_slots statistics reset_statistics interrupt record_timeline timeline streams"
        " rank ranks"
        " rank_reports shrink retry_on_rank_failure description test",
    ),
    "estimate": "estimate",
    "EstimateCall": "estimate",
    **{f"EstimateCall.{name}": f"estimate({name})" for name in ("targets", "sources", "accuracy", "params")},
    "Estimate": "results.Estimate",
    **same("Estimate", "results.Estimate", "seconds low high pairs tree measuring"),
    "DeviceOptions.engine": "open[engine]",
    "DeviceOptions.isa": "open[isa]",
    "DeviceOptions.boards": "open[boards]",
    "DeviceOptions.queues": "open[queues]",
    "DeviceOptions.threads": "open[threads]",
    "DeviceOptions.partition": "open[partition]",
    "DeviceOptions.queue_timeout": "open[queue_timeout]",
    "DeviceOptions.timeout_seconds": "open[timeout]",
    "DeviceOptions.self_test": "open[self_test]",
    "DeviceOptions.health_check_interval": "open[health_check]",
    "Partition.Auto": "open[partition=auto]",
    "Partition.TargetsOverBlocks": "open[partition=targets]",
    "Partition.SourcesOverBlocks": "open[partition=sources]",
    "StreamStatistics": "StreamStatistics",
    **same(
        "StreamStatistics",
        "StreamStatistics",
        "board stream bytes_sent bytes_received connections repeated_frames retransmitted_packets"
        " round_trip_seconds delivery_rate pacing_rate",
    ),
    "BoardTest": "BoardTest",
    **same("BoardTest", "BoardTest", "board failure seconds"),
    "Statistics": "Statistics",
    **same(
        "Statistics",
        "Statistics",
        "runs interactions flops compute_clocks chip_clocks bytes_to_board bytes_from_board"
        " predicted_seconds host_seconds engine isa threads fast_runs fallback_runs gpu_runs fallback_reason"
        " compile_seconds failed_boards checks failed_ranks conversion_seconds transfer_seconds"
        " board_seconds overlap_seconds predicted_gflops",
    ),
    "TimelineEvent": "TimelineEvent",
    **same("TimelineEvent", "TimelineEvent", "board part what begin end rank"),
    "TimelineEvent.clock": "TimelineEvent.measured",
    "write_trace": "Device.write_trace",
    "RankReport": "RankReport",
    **same(
        "RankReport",
        "RankReport",
        "rank host boards threads pairs bytes_to_board bytes_from_board bytes_received"
        " sources_bytes memory_bytes seconds waiting_seconds sources_seconds sources_waiting",
    ),
    # neighbour lists
    "find_neighbours": "neighbours",
    "NeighbourLists": "Neighbours",
    **same("NeighbourLists", "Neighbours", "offsets indices"),
    "NeighbourOptions.source_ids": "neighbours(ids)",
    "NeighbourOptions.target_ids": "neighbours(target_ids)",
    "NeighbourOptions.exclude_same_number": "neighbours(targets)",
    "NeighbourOptions.threads": "neighbours(threads)",
    "NeighbourOptions.box": "neighbours(box)",
    "find_neighbour_pairs": "neighbour_pairs",
    **{
        f"NeighbourPairs.{name}": "neighbour_pairs(quantities)"
        for name in "targets sources distances differences shifts".split()
    },
    # kernels and jobs
    "Kernel": "Kernel",
    "Kernel.assemble": "assemble",
    "Kernel.compile": "compile",
    "Kernel.load": "load",
    "Kernel.from_object": "from_object",
    "Kernel.builtin": "builtin",
    "Kernel.builtin_names": "builtin_names",
    "Kernel.clocks_per_interaction": "Kernel.clocks",
    "Kernel.flops_per_interaction": "Kernel.flops",
    **same("Kernel", "Kernel", "name variables arrays object scheduled adjoint"),
    "KernelVariable": "Variable",
    **same(
        "KernelVariable",
        "Variable",
        "name role type conversion reduction host_bytes default_value quantity component squared",
    ),
    "KernelArray": "ArrayVariable",
    **same("KernelArray", "ArrayVariable", "name sizes complex"),
    "KernelArray.first": "ArrayVariable.elements",
    "KernelArray.count": "ArrayVariable.elements",
    "Role": "Variable.role",
    **{f"Role.{role}": "Variable.role" for role in "Target Source Result Param Output".split()},
    "HostNumber": "Variable.type",
    **{f"HostNumber.{kind}": "Variable.type" for kind in "F64 F32 I64 Raw".split()},
    "Job": "Job",
    **same(
        "Job",
        "Job",
        "set sources update_sources targets run start ready wait target_count source_count",
    ),
    "SetJob": "SetJob",
    **same("SetJob", "SetJob", "set run start ready wait"),
    "InteractionSet": "SetJob.run_sets",
    "InteractionSet.targets": "SetJob.run(offsets)",
    "InteractionSet.first": "SetJob.run(offsets)",
    "InteractionSet.target_arrays": "SetJob.run(targets)",
    "InteractionSet.sources": "SetJob.run(sources)",
    "InteractionSet.results": "SetJob.run(results)",
    "SourceSegment": "SourceLists",
    "SourceSegment.arrays": "SourceLists.arrays",
    "SourceSegment.index": "SourceLists.index",
    "SourceSegment.items": "SourceLists.arrays",
    "SourceSegment.n": "SourceLists.offsets",
    "SourceSegment.first": "SourceLists.offsets",
    "SetList": "SetJob.run",
    "SetList.add_sets": "SetJob.run",
    "SetList.add_set": "SetJob.run_sets",
    "SetList.add_sources": "SetJob.run_sets",
    "SetList.add_source_lists": "SourceLists",
    "SetList.add_systems": "SetJob.run",
    # sums within a cut-off
    "Kernel.with_cutoff": "PairSum",
    "PairSum": "PairSum",
    **same("PairSum", "PairSum", "set statistics"),
    "PairSum.set_cutoff": "PairSum.__call__(cutoff)",
    "PairSum.set_box": "PairSum.__call__(box)",
    "PairSum.run": "PairSum.__call__",
    "PeriodicBox": "PairSum(box)",
    "PeriodicBox.orthorhombic": "PairSum(box)",
    "PeriodicBox.vectors": "PairSum(box)",
    "PeriodicBox.periodic": "PairSum(periodic)",
    "PairOptions.cutoff": "PairSum(cutoff)",
    "PairOptions.box": "PairSum(box)",
    "PairOptions.skin": "PairSum(skin)",
    "PairCall.pos": "PairSum.__call__(pos)",
    "PairCall.target_pos": "PairSum.__call__(targets)",
    "PairCall.sources": "PairSum.__call__(sources)",
    "PairCall.targets": "PairSum.__call__(targets)",
    "PairCall.results": "PairSum.__call__(results)",
    "PairStatistics": "PairStatistics",
    **same(
        "PairStatistics",
        "PairStatistics",
        "runs lists_made groups sources pairs list_seconds skin",
    ),
    # smoothed particle hydrodynamics
    "Sph": "sph",
    "Sph.set_box": "sph.density(box)",
    **same("Sph", "sph", "density smoothing_lengths forces"),
    **{f"SphParticles.{name}": f"sph.density({name})" for name in ("pos", "mass", "h")},
    **{
        f"SphLengthOptions.{name}": f"sph.smoothing_lengths({name})"
        for name in ("eta", "tolerance", "least", "most", "iterations")
    },
    **{
        f"SphGas.{name}": f"sph.forces({name})"
        for name in ("vel", "rho", "pressure", "sound", "alpha", "beta", "eta")
    },
    **same("SphForces", "results.SphForce", "acc dudt mumax"),
    "SphForces": "results.SphForce",
    # charges in a periodic box
    "Ewald": "ewald",
    "Ewald.run": "ewald",
    "EwaldCall.pos": "ewald(pos)",
    "EwaldCall.charge": "ewald(charge)",
    "EwaldCall.box": "ewald(box)",
    "EwaldCall.options": "ewald(accuracy)",
    "EwaldCall.force": "results.EwaldSum.force",
    "EwaldCall.energy": "results.EwaldSum.energies",
    **{f"EwaldOptions.{o}": f"ewald({o})" for o in ("accuracy", "alpha", "cutoff", "wave_cutoff")},
    **same(
        "EwaldResult", "results.EwaldSum", "energy virial alpha cutoff wave_cutoff waves error"
    ),
    "EwaldResult": "results.EwaldSum",
    # sums with a tree
    "TreeSum": "TreeSum",
    **same("TreeSum", "TreeSum", "set charges"),
    "TreeSum.run": "TreeSum.__call__",
    "TreeSumOptions": "TreeSum",
    "TreeCall": "TreeSum.__call__",
    "ResultError": "TreeSumReport.errors",
    "ResultError.largest_error": "TreeSumReport.largest_error",
    **{
        f"TreeSumOptions.{name}": f"TreeSum({name})"
        for name in "accuracy degree theta group_size leaf_size samples".split()
    },
    "TreeCall.pos": "TreeSum.__call__(pos)",
    "TreeCall.target_pos": "TreeSum.__call__(targets)",
    "TreeCall.sources": "TreeSum.__call__(sources)",
    "TreeCall.targets": "TreeSum.__call__(targets)",
    "TreeCall.results": "TreeSum.__call__(results)",
    "TreeSumReport": "TreeSumReport",
    **same(
        "TreeSumReport",
        "TreeSumReport",
        "degree theta error largest_error reason samples clusters groups sources_per_target"
        " build_seconds choice_seconds list_seconds sum_seconds error_seconds",
    ),
    "TreeSumReport.results": "TreeSumReport.errors",
    "ResultError.name": "TreeSumReport.errors",
    "ResultError.error": "TreeSumReport.errors",
    "Softening": "gravity(eps)",
    "Softening.of_each": "gravity(eps)",
    "Softening.of_all": "gravity(eps)",
    "Softening.of_targets": "gravity(target_eps)",
    "Softening.sources": "gravity(eps)",
    "Softening.targets": "gravity(target_eps)",
    "Gravity": "gravity",
    "Gravity.compute": "gravity",
    "Gravity.compute_on": "gravity(targets)",
    "GravityJerk": "gravity(vel)",
    "GravityJerk.compute": "gravity(vel)",
    "GravityJerk.compute_on": "gravity(target_vel)",
    "TreeMethod": "gravity(method)",
    "TreeMethod.Auto": "gravity(method)",
    "TreeMethod.Direct": "gravity(method)",
    "TreeMethod.Monopole": "gravity(method)",
    "TreeMethod.Multipole": "gravity(method)",
    "TreeMethod.Expansion": "gravity(method)",
    "TreeOptions": "gravity(accuracy)",
    "TreeOptions.accuracy": "gravity(accuracy)",
    "TreeOptions.method": "gravity(method)",
    "TreeOptions.degree": "gravity(degree)",
    "TreeOptions.theta": "gravity(theta)",
    "TreeOptions.group_size": "gravity(group_size)",
    "TreeOptions.leaf_size": "gravity(leaf_size)",
    "TreeOptions.samples": "gravity(samples)",
    "TreeOptions.earlier": "gravity(earlier)",
    "TreeOptions.calls": "gravity(calls)",
    "TreeOptions.progress": "gravity",
    "TreeReport": "results.TreeReport",
    **same(
        "TreeReport",
        "results.TreeReport",
        "method degree theta error largest_error jerk_error samples clusters groups sources_per_target"
        " build_seconds choice_seconds expansion_seconds list_seconds force_seconds"
        " error_seconds",
    ),
    # the Hermite scheme
    "Hermite": "nbody.hermite",
    "Hermite.advance": "nbody.hermite",
    "Hermite.step": "nbody.hermite",
    "Hermite.size": "nbody.State.__len__",
    "Hermite.time": "nbody.State.time",
    "Hermite.predict": "nbody.State.pos",
    "Hermite.forces": "nbody.State.acc",
    "Hermite.statistics": "nbody.State.blocks",
    "Hermite.fraction": "nbody.HermiteRun.now",
    "Hermite.state": "nbody.State.run",
    "HermiteState": "nbody.HermiteRun",
    **same("HermiteState", "nbody.HermiteRun", "cycle now jerk"),
    **same("HermiteState", "nbody.HermiteRun", "tree_degree tree_theta"),
    "HermiteState.time": "nbody.HermiteRun.times",
    "HermiteState.step": "nbody.HermiteRun.steps",
    "HermiteState.position": "nbody.HermiteRun.pos",
    "HermiteState.velocity": "nbody.HermiteRun.vel",
    "HermiteState.acceleration": "nbody.HermiteRun.acc",
    "HermiteState.size": "nbody.HermiteRun.__len__",
    "HermiteOptions.eps": "nbody.hermite(eps)",
    "HermiteOptions.eta": "nbody.hermite(eta)",
    "HermiteOptions.eta_start": "nbody.hermite(eta_start)",
    "HermiteOptions.largest_step": "nbody.hermite(dt_max)",
    "HermiteOptions.smallest_step": "nbody.hermite(dt_min)",
    "HermiteOptions.accuracy": "nbody.hermite(accuracy)",
    "HermiteStatistics": "nbody.BlockSteps",
    **same(
        "HermiteStatistics",
        "nbody.BlockSteps",
        "block_steps particle_steps limited_steps smallest_step largest_step mean_block",
    ),
    **same("HermiteStatistics", "nbody.BlockSteps", "tree_steps tree_error tree_jerk_error"),
    "StepTooShort": "errors.StepTooShort",
    # matrices
    "MatrixProduct": "linalg.MatrixProduct",
    "MatrixProduct.compute": "linalg.MatrixProduct.__call__",
    **same("MatrixProduct", "linalg.MatrixProduct", "invalidate start wait depth"),
    "MatrixPrecision": "linalg.MatrixProduct(precision)",
    "MatrixPrecision.Chip": "linalg.MatrixProduct(precision)",
    "MatrixPrecision.Full": "linalg.MatrixProduct(precision)",
    "Reuse": "linalg.MatrixProduct.__call__(reuse)",
    **{
        f"Reuse.{which}": "linalg.MatrixProduct.__call__(reuse)"
        for which in "Nothing A B Both".split()
    },
    "LinearSolver": "linalg",
    "LinearSolver.lu": "linalg.lu",
    "LinearSolver.solve": "linalg.LU.solve",
    "LinearSolver.cholesky": "linalg.cholesky",
    "LinearSolver.solve_cholesky": "linalg.Cholesky.solve",
    "LinearSolver.solve_triangular": "linalg.solve_triangular",
    "LinearSolver.multiply": "linalg.matmul",
    "LinearOptions.precision": "linalg.lu(precision)",
    "LinearOptions.block": "linalg.lu(block)",
    "LinearOptions.device_flops": "linalg.lu(device_flops)",
    "LinearOptions.overlap": "linalg.lu(overlap)",
    "Side": "linalg.solve_triangular(side)",
    "Side.Left": "linalg.solve_triangular(side)",
    "Side.Right": "linalg.solve_triangular(side)",
    "Triangle": "linalg.cholesky(lower)",
    "Triangle.Lower": "linalg.cholesky(lower)",
    "Triangle.Upper": "linalg.cholesky(lower)",
    "Diagonal": "linalg.solve_triangular(unit_diagonal)",
    "Diagonal.Stored": "linalg.solve_triangular(unit_diagonal)",
    "Diagonal.Unit": "linalg.solve_triangular(unit_diagonal)",
    "Transpose": "linalg.solve_triangular(transposed)",
    "Transpose.No": "linalg.solve_triangular(transposed)",
    "Transpose.Yes": "linalg.LU.solve(transposed)",
    "BatchedMatrices": "linalg.batch_lu(precision)",
    "BatchedMatrices.multiply": "linalg.batch_matmul",
    "BatchedMatrices.lu": "linalg.batch_lu",
    "BatchedMatrices.solve": "linalg.BatchLU.solve",
    "DistributedMatrices": "linalg.DistributedMatrices",
    "DistributedMatrices.grid_rows": "linalg.DistributedMatrices.grid",
    "DistributedMatrices.grid_columns": "linalg.DistributedMatrices.grid",
    "DistributedMatrices.local_rows": "linalg.DistributedMatrices.rows",
    "DistributedMatrices.local_columns": "linalg.DistributedMatrices.columns",
    "DistributedMatrices.global_row": "linalg.DistributedMatrices.rows",
    "DistributedMatrices.global_column": "linalg.DistributedMatrices.columns",
    "DistributedMatrices.multiply": "linalg.DistributedMatrices.matmul",
    "DistributedMatrices.lu": "linalg.DistributedMatrices.lu",
    "DistributedMatrices.solve": "linalg.DistributedMatrices.solve",
    "DistributedMatrices.times": "linalg.DistributedMatrices.times",
    **{
        f"GridOptions.{option}": f"linalg.DistributedMatrices({option})"
        for option in "rows block precision look_ahead".split()
    },
    "GridTimes": "linalg.GridTimes",
    **same("GridTimes", "linalg.GridTimes", "seconds update panel hidden"),
    # chip stepper
    "Machine": "Machine",
    **same(
        "Machine",
        "Machine",
        "load set sources targets target_slots target_count restart step run position instructions"
        " results blocks pes flags",
    ),
    "Machine.memory": "Machine.read",
    "Machine.set_memory": "Machine.write",
    "Machine.reduced": "Machine.reduce",
    "MachineMemory": "Machine.read(memory)",
    **{
        f"MachineMemory.{memory}": "Machine.read(memory)"
        for memory in "Registers Local T Masks Broadcast".split()
    },
    "MachinePosition": "Machine.position",
    "MachinePosition.pass": "_machine.Position.iteration",
    **same("MachinePosition", "_machine.Position", "section instruction text file line clock"),
    "MachineFlags": "Machine.flags",
    **same("MachineFlags", "_machine.Flags", "invalid overflow underflow"),
    # debugger
    "Debugger": "Debugger",
    **same(
        "Debugger",
        "Debugger",
        "at_end position step back step_clocks next_pass previous_pass run run_back go_to break_at"
        " break_at_line break_at_clock watch remove enable conditions read write checkpoints",
    ),
    "Debugger.break_at_section": "Debugger.break_at",
    "Machine.passes": "Debugger.iterations",
    "Machine.place": "Debugger.at",
    "Machine.listing": "Debugger.instructions",
    "Machine.variables": "Debugger.variables",
    "MachineVariable": "_debugger.Location",
    **same("MachineVariable", "_debugger.Location", "name kind memory address step conversion"),
    **same("MachineVariable", "_debugger.Location", "reduction"),
    "MachineVariable.is_long": "_debugger.Location.long",
    "MachineVariable.count": "_debugger.Location.words",
    "MachineWord": "Debugger.watch_word",
    **{
        f"MachineWord.{field}": f"Debugger.watch_word({field})"
        for field in "memory block pe address".split()
    },
    "MachineWord.is_long": "Debugger.watch_word(long)",
    "StopCondition": "_debugger.Condition",
    **same("StopCondition", "_debugger.Condition", "number kind text enabled hits"),
    "StopKind": "_debugger.Condition.kind",
    **{
        f"StopKind.{kind}": "_debugger.Condition.kind"
        for kind in "Instruction Clock Change".split()
    },
    "StopReport": "_debugger.Stop",
    **same("StopReport", "_debugger.Stop", "reason conditions changes"),
    "StopReason": "_debugger.Stop.reason",
    **{
        f"StopReason.{reason}": "_debugger.Stop.reason"
        for reason in "Steps Condition End Beginning Interrupted".split()
    },
    "WordChange": "_debugger.Change",
    **same("WordChange", "_debugger.Change", "before after"),
    "WordChange.number": "_debugger.Change.condition",
    "WordChange.word": "_debugger.Change.address",
}

ARRAYS = "a NumPy array has address, type and strides"
KEYWORDS = "its members are keyword arguments"
EIGEN = "for Eigen's matrices; linalg takes NumPy arrays"
HOST_NAMES = "the names of the attributes of a function that became a kernel"
SET_LIST = "every call of SetJob.run takes all its sets"
MOVING = "nbody.hermite integrates with individual steps; NumPy predicts other sources"
TYPED = "for C++ structures; fields of a NumPy structured array are arrays with a stride"

LISTING = "Debugger.at and Debugger.instructions tell texts, lines and clocks"
BITS = "words are Python integers of 72 or 36 bits"

WITHOUT: Dict[str, str] = {
    "Debugger.machine": "its functions are those of the debugger",
    "Debugger.checkpoint_bytes": "the number of checkpoints is enough",
    "Machine.snapshot": "the debugger goes back",
    "Machine.restore": "the debugger goes back",
    "Machine.set_param": "raw bits of params are for the command",
    "Machine.word": "read takes whole memories",
    "Machine.memory_size": "the shape of the array of read",
    "MachineSnapshot": "the debugger goes back",
    "MachineSnapshot.bytes": "the debugger goes back",
    "MachineBits": BITS,
    "MachineBits.upper": BITS,
    "MachineBits.lower": BITS,
    "MachineInstruction": LISTING,
    **{f"MachineInstruction.{field}": LISTING for field in "text file line clocks".split()},
    "MachinePlace": LISTING,
    **{f"MachinePlace.{field}": LISTING for field in "section pass instruction clock".split()},
    "StopCondition.instructions": "the text of the condition tells the place",
    "StopCondition.pass": "the text of the condition tells the place",
    "StopCondition.clock": "the text of the condition tells the clock",
    "StopCondition.words": "a change has the word",
    "PairOptions": KEYWORDS,
    "SphParticles": KEYWORDS,
    "SphLengthOptions": KEYWORDS,
    "SphGas": KEYWORDS,
    "EwaldCall": KEYWORDS,
    "EwaldOptions": KEYWORDS,
    "TreeSumOptions.threads": "the device's option threads is the limit",
    "PairOptions.threads": "the device's option threads is the limit",
    "PairCall": KEYWORDS,
    "ErrorCategory": "every category is an exception class",
    "DeviceOptions": KEYWORDS,
    "DeviceOptions.default_engine": "open takes the engine",
    "Partition": "a string, as in a device's name",
    "LinearOptions": KEYWORDS,
    "HermiteOptions": KEYWORDS,
    "NeighbourOptions": KEYWORDS,
    "NeighbourOptions.stop": "requested by Ctrl-C",
    "NeighbourPairs": "the result is a tuple of the arrays that the call names",
    "NeighbourLists.size": "the length of offsets, less one",
    "HermiteOptions.kernel": "nbody.hermite takes the kernel of the engine",
    "HermiteStatistics.evaluations": "a step has one evaluation, a state another one",
    "Hermite.kernel": "nbody.hermite takes the kernel of the engine",
    **{f"SetList.{name}": SET_LIST for name in "clear size sets".split()},
    "GridOptions": KEYWORDS,
    **{
        f"TimelineClock{name}": "an event says whether it is measured"
        for name in ("", ".Modelled", ".Measured")
    },
    "trace_objects": "a trace is written at once: write_trace",
    "trace_text": "a trace is written at once: write_trace",
    "Device.timeline_seconds": "events of a Python program are not part of a trace",
    "Kernel.host_names": HOST_NAMES,
    "Kernel.with_host_names": HOST_NAMES,
    **{
        name: MOVING
        for name in "MovingSource MovingSource.half_a MovingSource.id MovingSource.mass"
        " MovingSource.sixth_j MovingSource.snap_18th MovingSource.time MovingSource.v MovingSource.x"
        " MovingSourceNames MovingSourceNames.id MovingSourceNames.mass MovingSourceNames.v"
        " MovingSourceNames.half_a MovingSourceNames.now MovingSourceNames.sixth_j"
        " MovingSourceNames.snap_18th MovingSourceNames.time MovingSources.predict_on_device"
        " MovingSources.predict_on_host"
        " MovingSourceNames.slot MovingSourceNames.x MovingSources MovingSources.ids"
        " MovingSources.name_slots MovingSources.positions MovingSources.predict"
        " MovingSources.predicted MovingSources.require MovingSources.resend MovingSources.run"
        " MovingSources.set MovingSources.get MovingSources.is_set MovingSources.slots"
        " MovingSources.velocities".split()
    },
    "Kernel.has_schedule": "Device.job asks for it",
    "Kernel.adjoint_text": "`gdr compile --adjoint` prints it",
    "Kernel.unscheduled": "Device.job does it for engines that need no schedule",
    "Kernel.program_object": "boards load it; Kernel.object is the contents of an object file",
    "Kernel.with_longs": "Device.job does it for engines that compute in doubles",
    "Device.needs_schedule": "Device.job asks for it",
    **{
        name: "Device.needs_schedule and the choice of kernels ask for it"
        for name in "EngineNumbers EngineNumbers.Machine EngineNumbers.Doubles EngineNumbers.Floats numbers_of".split()
    },
    "Device.prepare": "Device.job does it, with a progress bar",
    **{
        name: "the bars of long calls show it"
        for name in "Device.progress DeviceProgress DeviceProgress.share DeviceProgress.pairs"
        " DeviceProgress.begun".split()
    },
    "Kernel.program": "a type of the emulator; Kernel.assembly and Kernel.object give its contents",
    **{
        name: ARRAYS
        for name in "ConstArray ConstArray.data ConstArray.type ConstArray.stride MutableArray"
        " MutableArray.data MutableArray.type MutableArray.stride NamedInput NamedInput.name"
        " NamedInput.array NamedResult NamedResult.name NamedResult.array MatrixView"
        " MatrixView.data MatrixView.stride MatrixView.transpose VectorView VectorView.data"
        " VectorView.increment MatrixBatch MatrixBatch.data MatrixBatch.stride"
        " MatrixBatch.step ConstArray.item_stride ConstArray.row ConstArray.size"
        " MutableArray.item_stride MutableArray.row MutableArray.size Numbers Numbers.data"
        " Numbers.need Numbers.requires Numbers.size need unknown_size HostNumber.I32".split()
    },
    **{
        name: EIGEN
        for name in "Pivots lu solve cholesky solve_cholesky solve_triangular multiply".split()
    },
    **{
        name: TYPED
        for name in "Field Field.name Field.type Field.offset arrays_of parameter TypedJob"
        " TypedJob.Source TypedJob.Target TypedJob.Result TypedJob.Output TypedJob.sources"
        " TypedJob.update_sources TypedJob.targets TypedJob.run TypedJob.start TypedJob.ready"
        " TypedJob.wait TypedJob.untyped".split()
    },
}

#: Functions of gdr.h and their C++ equivalents, which map to Python above.
C_FUNCTIONS: Dict[str, str] = {
    "gdr_version": "version",
    "gdr_last_error": "Error",
    "gdr_last_status": "Error.category",
    "gdr_device_open": "Device.open",
    "gdr_device_open_mpi": "Device.open_on_ranks",
    "gdr_device_description": "Device.description",
    "gdr_device_statistics": "Device.statistics",
    "gdr_device_board_statistics": "Device.statistics",
    "gdr_device_engine": "Statistics.engine",
    "gdr_device_isa": "Statistics.isa",
    "gdr_device_fallback_reason": "Statistics.fallback_reason",
    "gdr_device_reset_statistics": "Device.reset_statistics",
    "gdr_device_target_slots": "Device.target_slots",
    "gdr_device_rank": "Device.rank",
    "gdr_device_rank_reports": "Device.rank_reports",
    "gdr_device_ranks": "Device.ranks",
    "gdr_device_shrink": "Device.shrink",
    "gdr_device_retry_on_rank_failure": "Device.retry_on_rank_failure",
    "gdr_kernel_compile": "Kernel.compile",
    "gdr_kernel_assemble": "Kernel.assemble",
    "gdr_kernel_load": "Kernel.load",
    "gdr_kernel_object": "Kernel.from_object",
    "gdr_kernel_builtin": "Kernel.builtin",
    "gdr_kernel_adjoint": "Kernel.adjoint",
    "gdr_kernel_name": "Kernel.name",
    "gdr_kernel_variable_count": "Kernel.variables",
    "gdr_kernel_variable": "Kernel.variables",
    "gdr_kernel_array_count": "Kernel.arrays",
    "gdr_kernel_array": "Kernel.arrays",
    "gdr_kernel_cost": "Kernel.clocks_per_interaction",
    "gdr_job_create": "Device.job",
    "gdr_job_set": "Job.set",
    "gdr_job_set_values": "Job.set",
    "gdr_job_sources": "Job.sources",
    "gdr_job_targets": "Job.targets",
    "gdr_job_update_sources": "Job.update_sources",
    "gdr_job_update_sources_at": "Job.update_sources",
    "gdr_job_run": "Job.run",
    "gdr_job_start": "Job.start",
    "gdr_job_wait": "Job.wait",
    "gdr_job_ready": "Job.ready",
    "gdr_set_job_create": "SetJob",
    "gdr_set_job_set": "SetJob.set",
    "gdr_set_job_set_values": "SetJob.set",
    "gdr_set_job_clear": "SetList",
    "gdr_set_job_add_sets": "SetList.add_sets",
    "gdr_set_job_add_sources": "SetList.add_source_lists",
    "gdr_set_job_add_sources_at": "SetList.add_source_lists",
    "gdr_set_job_run": "SetJob.run",
    "gdr_set_job_start": "SetJob.start",
    "gdr_set_job_wait": "SetJob.wait",
    "gdr_set_job_ready": "SetJob.ready",
    "gdr_gravity_create": "Gravity",
    "gdr_gravity_set_softening": "Gravity.compute",
    "gdr_gravity_compute": "Gravity.compute",
    "gdr_gravity_compute_on": "Gravity.compute_on",
    "gdr_matrix_product_create": "MatrixProduct",
    "gdr_matrix_product_dgemm": "MatrixProduct.compute",
    "gdr_matrix_product_sgemm": "MatrixProduct.compute",
    "gdr_matrix_product_reuse_b": "Reuse.B",
    "gdr_linear_solver_create": "LinearSolver",
    "gdr_linear_lu": "LinearSolver.lu",
    "gdr_linear_solve": "LinearSolver.solve",
    "gdr_linear_cholesky": "LinearSolver.cholesky",
    "gdr_linear_solve_cholesky": "LinearSolver.solve_cholesky",
    "gdr_linear_solve_triangular": "LinearSolver.solve_triangular",
    "gdr_linear_multiply": "LinearSolver.multiply",
    "gdr_batched_matrices_create": "BatchedMatrices",
    "gdr_batched_multiply": "BatchedMatrices.multiply",
    "gdr_batched_lu": "BatchedMatrices.lu",
    "gdr_batched_solve": "BatchedMatrices.solve",
    # Context managers and garbage collection.
    "gdr_device_close": "Device",
    "gdr_kernel_free": "Kernel",
    "gdr_job_free": "Job",
    "gdr_set_job_free": "SetJob",
    "gdr_gravity_free": "Gravity",
    "gdr_gravity_compute_tree": "Gravity.compute",
    "gdr_gravity_compute_tree_on": "Gravity.compute_on",
    "gdr_neighbours_create": "find_neighbours",
    "gdr_neighbours_set_box": "NeighbourOptions.box",
    "gdr_neighbours_set_ids": "NeighbourOptions.source_ids",
    "gdr_neighbours_find": "find_neighbours",
    "gdr_neighbours_find_on": "find_neighbours",
    "gdr_neighbours_counts": "NeighbourLists.offsets",
    "gdr_neighbours_lists": "NeighbourLists.indices",
    "gdr_neighbours_pairs": "find_neighbour_pairs",
    "gdr_neighbours_free": "find_neighbours",
    "gdr_pair_sum_create": "PairSum",
    "gdr_pair_sum_set": "PairSum.set",
    "gdr_pair_sum_set_values": "PairSum.set",
    "gdr_pair_sum_set_cutoff": "PairSum.set_cutoff",
    "gdr_pair_sum_set_box": "PairSum.set_box",
    "gdr_pair_sum_run": "PairSum.run",
    "gdr_pair_sum_run_on": "PairSum.run",
    "gdr_pair_sum_statistics": "PairSum.statistics",
    "gdr_pair_sum_free": "PairSum",
    "gdr_tree_sum_create": "TreeSum",
    "gdr_tree_sum_set": "TreeSum.set",
    "gdr_tree_sum_set_values": "TreeSum.set",
    "gdr_tree_sum_charges": "TreeSum.charges",
    "gdr_tree_sum_run": "TreeSum.run",
    "gdr_tree_sum_run_on": "TreeSum.run",
    "gdr_tree_sum_reason": "TreeSumReport.reason",
    "gdr_tree_sum_free": "TreeSum",
    "gdr_ewald_create": "Ewald",
    "gdr_ewald_run": "Ewald.run",
    "gdr_ewald_free": "Ewald",
    "gdr_sph_create": "Sph",
    "gdr_sph_set_box": "Sph.set_box",
    "gdr_sph_density": "Sph.density",
    "gdr_sph_smoothing_lengths": "Sph.smoothing_lengths",
    "gdr_sph_forces": "Sph.forces",
    "gdr_sph_free": "Sph",
    "gdr_matrix_product_free": "MatrixProduct",
    "gdr_linear_solver_free": "LinearSolver",
    "gdr_batched_matrices_free": "BatchedMatrices",
}
