# needs: requests
"""The same prompt from three threads, with three answers: each gets its own (bernstein#1846: identical prompts collapse; vcrpy#849)."""

import os
import threading

import requests

answers = {}


def ask(number):
    answers[number] = [requests.get(os.environ["BASE"] + "/counter", headers={"x-prompt": "the same"}).json()["count"] for _ in range(3)]


threads = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(answers.items()))
