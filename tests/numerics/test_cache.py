"""The cache: what it keeps, and threads that use it at once."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from l2t.numerics import LRUCache


def fail():
    raise AssertionError("this value should be cached")


def test_a_value_is_computed_once_also_if_it_is_none():
    cache = LRUCache(2)
    assert cache.get("a", lambda: None) is None
    assert cache.get("a", fail) is None


def test_the_value_used_longest_ago_is_dropped():
    cache = LRUCache(2)
    for key in "abac":
        cache.get(key, lambda key=key: key)
    assert cache.get("a", fail) == "a"
    assert cache.get("c", fail) == "c"
    assert cache.get("b", lambda: "again") == "again"


def test_a_computation_may_use_the_cache_itself():
    cache = LRUCache(1)
    assert cache.get("a", lambda: 1 + cache.get("b", lambda: 1)) == 2


def test_an_error_is_not_cached():
    cache = LRUCache(1)
    with pytest.raises(ZeroDivisionError):
        cache.get("a", lambda: 1 // 0)
    assert cache.get("a", lambda: 1) == 1


def test_threads_that_drop_the_values_of_each_other():
    cache, keys = LRUCache(2), [str(i % 7) for i in range(20_000)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda key: cache.get(key, lambda: key), keys, chunksize=1))
    finally:
        sys.setswitchinterval(before)
    assert found == keys
