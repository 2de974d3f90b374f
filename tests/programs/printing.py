"""Text printed in pieces, with and without a flush, and to standard error."""

import sys

sys.stdout.write("no line feed")
sys.stdout.flush()
print(" here", file=sys.stdout)
sys.stdout.buffer.write(b"bytes \xff\n")
print("aside", file=sys.stderr)
