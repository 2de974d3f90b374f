"""Many declared tools one after the other, so that answers are sent ahead of the questions: equal questions with other answers, tools that
fail, call each other, print, write files or are generators, and threads in between."""

import os
import threading

import tachograph

count = 0


@tachograph.tool(effect="read")
def look(number):
    global count
    count += 1
    if number % 50 == 49:
        raise KeyError("nothing at %d" % number)
    return {"n": number, "seen": count, "text": "é\n" * (number % 3)}


@tachograph.tool
def write(number):
    with open("out-%d.txt" % (number % 3), "a") as file:
        file.write("%d\n" % number)
    return number


@tachograph.tool(effect="read")
def twice(number):
    return [look(number), look(number)]


@tachograph.tool(effect="read")
def say(number):
    print("saying", number)


@tachograph.tool(effect="read")
def some(number):
    yield from range(number % 4)


def ask(number):
    try:
        return look(number % 200)
    except KeyError as error:
        return str(error)


for number in range(900):
    if number % 100 == 70:
        print(write(number), twice(7), say(number), list(some(number)), sorted(os.listdir(".")))
    if number % 300 == 120:
        threads = [threading.Thread(target=ask, args=(each,)) for each in (1, 2)]
        for thread in threads:
            thread.start()
            thread.join()
    print(ask(number))
