"""Workers of a multiprocessing pool are the agent itself: their calls are in the same session, under their own lanes."""

import multiprocessing
import os
import urllib.request


def ask(number):
    return urllib.request.urlopen(f"{os.environ['BASE']}/slow?ms=10&n={number}").read().decode()


if __name__ == "__main__":
    for number in range(3):
        with multiprocessing.get_context("fork").Pool(1) as pool:
            print(pool.apply(ask, (number,)))
