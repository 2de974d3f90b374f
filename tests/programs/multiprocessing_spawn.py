"""A spawned worker, which starts from nothing."""

import multiprocessing
import os
import urllib.request


def ask(queue):
    queue.put(urllib.request.urlopen(os.environ["BASE"] + "/json").read().decode())


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    worker = context.Process(target=ask, args=(queue,))
    worker.start()
    print(queue.get(timeout=60))
    worker.join()
