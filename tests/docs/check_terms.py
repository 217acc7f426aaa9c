#!/usr/bin/env python3
"""Rejects private terms, for which numerical computing, compilers or operating systems have a name.

Every tracked text file is searched for the whole words of TERMS; a hit is printed as file:line with
the standard term. Only unambiguous words are listed: most private terms are ordinary words, too.

usage: check_terms.py SOURCE_DIR
"""

import pathlib
import re
import sys

import tree

# (private term, standard term). A term is matched as a whole word, case-sensitive.
TERMS = [
    # cancellation, driver
    ("look_up", "std::stop_token"),
    ("WorkWatch", "std::stop_token"),
    ("StopsOn", "std::stop_callback"),
    ("check_stop", "stop_requested"),
    ("DrivenBoard", "RemoteBoard"),
    ("Flight", "the in-flight list"),
    ("Patience", "TimeoutPolicy"),
    ("quiet_seconds", "heartbeat timeout"),
    ("sign of life", "heartbeat"),
    ("signs of life", "heartbeats"),
    ("Signs of life", "heartbeats"),
    # device
    ("SmallMatrices", "BatchedMatrices"),
    ("gdr_small_matrices_create", "gdr_batched_matrices_create"),
    ("gdr::Unchanged", "gdr::Reuse"),
    ("enum class Unchanged", "enum class Reuse"),
    ("unchanged_b", "reuse_b"),
    ("side_by_side", "concurrently"),
    ("far_away", "overflow diagnosis"),
    ("slow_runs", "fallback_runs"),
    ("slow_reason", "fallback_reason"),
    ("queue_seconds", "queue_timeout"),
    ("check_seconds", "health_check_interval"),
    ("Sharing", "Partition"),
    ("sharing=", "partition="),
    ("typed_header", "cpp_header"),
    # ranks
    ("AgreedError", "CollectiveError"),
    ("RanksLost", "RankFailure"),
    ("ranks_lost", "rank_failure"),
    ("gdr_error_ranks_lost", "gdr_error_rank_failure"),
    ("despite_losses", "retry_on_rank_failure"),
    ("gdr_device_despite_losses", "gdr_device_retry_on_rank_failure"),
    ("Farewells", "shutdown protocol"),
    ("Departures", "shutdown protocol"),
    ("Arrivals", "source pipeline"),
    # compiler and engines
    ("Tenant", "LiveRange"),
    ("one_after_the_other", "unpipelined"),
    ("Refusal", "CompileError"),
    ("late_operand", "latency violation"),
    ("handover", "cross-section value"),
    ("SectionNote", "SectionStats"),
    ("run_whole", "run_program"),
    ("whole_run", "fused run"),
    ("run_straight", "run_in_place"),
    ("Handover", "CrossSectionTypes"),
    ("SummedProducts", "MatmulPattern"),
    ("CarefulBlock", "FallbackBlock"),
    ("KeptItems", "ItemsKey"),
    ("StagedItems", "CachedItems"),
    ("HeldFactors", "CachedFactors"),
    ("RingTimes", "BodyTimes"),
    ("Occupied", "OccupancyMap"),
    # one meaning each for pass, kernel, writer and range (HACKING.md)
    ("passes of the loop", "iterations of the loop"),
    ("pass of the loop", "iteration of the loop"),
    ("SlotPass", "SlotTranslator"),
    ("WordPass", "WordTranslator"),
    ("MemoryPass", "MemoryTranslator"),
    ("PredicatedPass", "PredicatedTranslator"),
    ("AccumulationPass", "AccumulationFusion"),
    ("PassDevice", "LoopDevice"),
    ("DevicePasses", "DeviceLoop"),
    ("PassShare", "LoopShare"),
    ("UnsupportedPass", "UnsupportedLoop"),
    ("NextPass", "NextIteration"),
    ("can_share_passes", "can_share_iterations"),
    ("KernelWriter", "KernelTextEmitter"),
    ("HostKernels", "HostFunctions"),
    ("FactorKernels", "FactorFunctions"),
    ("DirectKernels", "DirectFunctions"),
    ("MatmulKernels", "MatmulFunctions"),
    ("FastMatmulKernels", "FastMatmulFunctions"),
    ("VfioKernel", "SystemCalls"),
    ("track_writers", "track_producers"),
    ("FloatRange", "FloatFormat"),
    ("ExponentRange", "ExponentInterval"),
    ("give_up_lists", "disable_lists"),
    # command, Python, tests
    ("gdr kc", "gdr compile"),
    ("gdr dis", "gdr disasm"),
    ("gdr stub", "gdr header"),
    ("GDR_FUSE", "GDR_JIT"),
    ("GDR_TEST_CASES", "GDR_TEST_ITERATIONS"),
    ("GDR_TEST_FAULTS", "GDR_TEST_ITERATIONS"),
    ("GDR_TEST_ATTACKS", "GDR_TEST_ITERATIONS"),
    ("GDR_TEST_LOSSES", "GDR_TEST_ITERATIONS"),
    ("GDR_TEST_KERNELS", "GDR_TEST_ITERATIONS"),
    ("Errand", "Task"),
    ("Abandoned", "detached"),
    ("wait_for_abandoned", "wait_for_detached"),
    ("Mood", "OperandDistribution"),
    # prose
    ("rooms", "components, directories; resource limits"),
    ("sees to it", "ensures"),
    ("see to it", "ensure"),
    ("stands beside", "is compared with"),
    ("stand beside", "are compared with"),
    ("dealt out", "distributed"),
    ("deals out", "distributes"),
    ("shared out", "partitioned"),
    ("worked off", "executed"),
    ("worked out", "computed"),
    ("gone through", "processed"),
    ("handed on", "passed on, carried"),
    ("hands on", "passes on, carries"),
    ("given up", "marked as failed"),
    ("nobody knows", "(describe the state)"),
    ("knows of it", "(describe the dependency)"),
    ("That went into", "time spent"),
    ("by chance", "randomised"),
    ("who is to blame", "the particle that overflows"),
    ("No machine is left", "the hardware is no longer available"),
    ("is left to buy", "is no longer available"),
    ("what goes", "the data that ..."),
    ("What goes", "the data that ..."),
    ("What is sent", "Data transfer"),
    ("Who computes what", "Work distribution"),
    ("takes turns", "alternates"),
    ("take turns", "alternate"),
    ("tells of", "reports"),
    ("writes down", "records"),
    ("write down", "record"),
    ("comes of it", "results from it"),
    ("makes of it", "(name the result)"),
    ("made of it", "(name the result)"),
    ("comes out", "is; results in"),
    ("goes wrong", "fails; is wrong"),
    ("went wrong", "failed"),
    ("again and again", "repeatedly"),
    ("looks at", "reads; examines"),
    ("stands behind", "follows"),
    ("as it stands", "as written; unchanged"),
    ("in the wild", "(say where)"),
    ("says so", "states it; declares it"),
]

# Files that define the terms.
EXCEPTIONS = {"tests/docs/check_terms.py"}


def pattern(terms: list[str]) -> re.Pattern[str]:
    """Any of the terms as whole words, the longest first."""
    words = sorted(terms, key=len, reverse=True)
    joined = "|".join(re.escape(word) for word in words)
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{joined})(?![A-Za-z0-9_])")


def main() -> int:
    source = pathlib.Path(sys.argv[-1])
    standard = dict(TERMS)
    find = pattern(list(standard))
    hits = 0
    for name, text in tree.texts(source):
        if name in EXCEPTIONS or not find.search(text):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for hit in find.findall(line):
                print(f"{name}:{number}: {hit!r}: write {standard[hit]}")
                hits += 1
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main())
