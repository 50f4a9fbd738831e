"""Commands of a program that measures itself, on its standard input:

    prepare                        makes its model on the GPU
    measure BEGIN SECONDS SEQUENCES [RATE]
                                   works from now on, and measures from BEGIN (seconds since 1970) for SECONDS

Every command is answered by one line of JSON, so that one process serves several measurements and several processes
can be started ahead: a program without a command has imported PyTorch and has not used the GPU. It ends with its input.
"""
import json
import sys
import time


def answer(**values) -> None:
    print(json.dumps(values), flush=True)


def serve(prepare, measure) -> None:
    """`measure` takes what `prepare` returned and the numbers of the command, and returns a result."""
    answer(ready="imported")
    prepared = None
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["prepare"]:
            prepared = prepare()
            answer(ready="prepared")
        elif words[:1] == ["measure"]:
            begin, seconds, sequences, rate = [float(word) for word in words[1:] + ["0"]][:4]
            late = max(time.time() - begin, 0)
            result = measure(prepared, begin, seconds, int(sequences), rate)
            answer(**result, late_ms=round(late * 1e3))
