from marid.syntax.python.resolve.entities import Class, Function, Instance


def test_things_are_told_apart_by_where_they_stand() -> None:
    shop = Class("shop.py", "Shop")
    assert Instance(shop) == Instance(Class("shop.py", "Shop")) != Instance(Class("old.py", "Shop"))
    assert Function("shop.py", "Shop.open", shop) != Function("shop.py", "Shop.open")
