"""Speed, memory and correctness of `marid context`, in one run with floors and peers.

The process that measures stays small, because a child's peak memory starts from the size of its parent: trees are made
and outputs are verified in separate processes, and nothing large is imported here.
"""
