from threading import Thread

from marid.core.once import once


def test_it_is_made_once_however_many_ask() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        return made[-1]

    get = once(make)
    assert made == []
    askers = [Thread(target=get) for _ in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert (get(), made) == (0, [0])
