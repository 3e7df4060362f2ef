import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from siphash24 import siphash24

from replearn.randomness.hashing import SipState, last_word
from replearn.randomness.points import aligned_words

# The authors' test vectors (SipHash-2-4, 64 bits): key 00 01 ... 0f, messages 00 01 ... of
# length 0 to 63, the hashes as little-endian bytes.
REFERENCE_KEY = bytes(range(16))
REFERENCE_VECTORS = [
    "310e0edd47db6f72",
    "fd67dc93c539f874",
    "5a4fa9d909806c0d",
    "2d7efbd796666785",
    "b7877127e09427cf",
    "8da699cd64557618",
    "cee3fe586e46c9cb",
    "37d1018bf50002ab",
    "6224939a79f5f593",
    "b0e4a90bdf82009e",
    "f3b9dd94c5bb5d7a",
    "a7ad6b22462fb3f4",
    "fbe50e86bc8f1e75",
    "903d84c02756ea14",
    "eef27a8e90ca23f7",
    "e545be4961ca29a1",
    "db9bc2577fcc2a3f",
    "9447be2cf5e99a69",
    "9cd38d96f0b3c14b",
    "bd6179a71dc96dbb",
    "98eea21af25cd6be",
    "c7673b2eb0cbf2d0",
    "883ea3e395675393",
    "c8ce5ccd8c030ca8",
    "94af49f6c650adb8",
    "eab8858ade92e1bc",
    "f315bb5bb835d817",
    "adcf6b0763612e2f",
    "a5c91da7acaa4dde",
    "716595876650a2a6",
    "28ef495c53a387ad",
    "42c341d8fa92d832",
    "ce7cf2722f512771",
    "e37859f94623f3a7",
    "381205bb1ab0e012",
    "ae97a10fd434e015",
    "b4a31508beff4d31",
    "81396229f0907902",
    "4d0cf49ee5d4dcca",
    "5c73336a76d8bf9a",
    "d0a704536ba93e0e",
    "925958fcd6420cad",
    "a915c29bc8067318",
    "952b79f3bc0aa6d4",
    "f21df2e41d4535f9",
    "87577519048f53a9",
    "10a56cf5dfcd9adb",
    "eb75095ccd986cd0",
    "51a9cb9ecba312e6",
    "96afadfc2ce666c7",
    "72fe52975a4364ee",
    "5a1645b276d592a1",
    "b274cb8ebf87870a",
    "6f9bb4203de7b381",
    "eaecb2a30b22a87f",
    "9924a43cc1315724",
    "bd838d3aafbf8db7",
    "0b1a2a3265d51aea",
    "135079a3231ce660",
    "932b2846e4d70666",
    "e1915f5cb1eca46c",
    "f325965ca16d629f",
    "575ff28e60381be5",
    "724506eb4c328a95",
]


def words_of(message: bytes) -> list[int]:
    """Cut a message into words as SipHash pads it, length mark included."""
    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) % 256])
    return [int.from_bytes(padded[i : i + 8], "little") for i in range(0, len(padded), 8)]


def hash_messages(key: bytes, messages: list[bytes]) -> list[int]:
    state = SipState(key, len(messages))
    for words in zip(*map(words_of, messages), strict=True):
        state.absorb(np.array(words, dtype=np.uint64))
    return state.digest().tolist()


def textbook_siphash(key: bytes, message: bytes) -> int:
    """SipHash-2-4 of one message in Python integers, written from its definition."""
    mask = (1 << 64) - 1

    def rotate(x: int, bits: int) -> int:
        return (x << bits | x >> (64 - bits)) & mask

    def rounds(v: list[int], count: int) -> None:
        for _ in range(count):
            v[0] = (v[0] + v[1]) & mask
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & mask
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & mask
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & mask
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    k = [int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")]
    name = b"somepseudorandomlygeneratedbytes"
    v = [int.from_bytes(name[8 * i : 8 * i + 8], "big") ^ k[i % 2] for i in range(4)]
    for word in words_of(message):
        v[3] ^= word
        rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def test_published_values_stand_in_the_table():
    # printed in the paper (appendix A) and in the reference program's first line
    assert int.from_bytes(bytes.fromhex(REFERENCE_VECTORS[15]), "little") == 0xA129CA6149BE45E5
    assert int.from_bytes(bytes.fromhex(REFERENCE_VECTORS[0]), "little") == 0x726FDB47DD0E0E31


@pytest.mark.parametrize("length", range(64))
def test_reference_vectors(length):
    expected = int.from_bytes(bytes.fromhex(REFERENCE_VECTORS[length]), "little")
    message = bytes(range(length))
    assert hash_messages(REFERENCE_KEY, [message]) == [expected]
    assert textbook_siphash(REFERENCE_KEY, message) == expected


@settings(deadline=None, derandomize=True)
@given(
    key=st.binary(min_size=16, max_size=16),
    messages=st.integers(0, 300).flatmap(
        lambda length: st.lists(st.binary(min_size=length, max_size=length), min_size=1, max_size=5)
    ),
)
def test_agrees_with_second_implementation(key, messages):
    expected = [
        int.from_bytes(siphash24(message, key=key).digest(), "little") for message in messages
    ]
    assert hash_messages(key, messages) == expected


def test_lanes_do_not_touch_each_other():
    generator = np.random.default_rng(5)
    for n_lanes in (1, 7, 8, 9, 1000):
        messages = [generator.bytes(20) for _ in range(n_lanes)]
        expected = [textbook_siphash(REFERENCE_KEY, message) for message in messages]
        assert hash_messages(REFERENCE_KEY, messages) == expected


def test_one_word_for_all_lanes():
    state = SipState(REFERENCE_KEY, 3)
    state.absorb(np.uint64(0x0706050403020100))
    state.absorb(last_word(8))
    expected = int.from_bytes(bytes.fromhex(REFERENCE_VECTORS[8]), "little")
    assert state.digest().tolist() == [expected] * 3


def test_restart_and_continue_from():
    word = np.arange(4, dtype=np.uint64)
    first, second = SipState(REFERENCE_KEY, 4), SipState(REFERENCE_KEY, 4)
    first.absorb(word)
    second.continue_from(first)
    second.absorb(word)
    first.absorb(word)
    assert (first.digest() == second.digest()).all()
    first.restart(2)
    first.absorb(last_word(0))
    assert hex(first.digest()[1]) == "0x726fdb47dd0e0e31"


def test_wrong_key_length():
    with pytest.raises(ValueError, match="16 bytes, got 3"):
        SipState(b"abc", 1)


@pytest.mark.parametrize("n_words", [0, 1, 63, 64, 1000])
def test_aligned_words(n_words):
    words = aligned_words(n_words)
    assert words.shape == (n_words,)
    assert words.ctypes.data % 64 == 0 or n_words == 0


def test_one_message_alone_and_among_others_have_one_hash():
    from replearn.randomness.key import SharedKey

    key = SharedKey("alone")
    rows = np.random.default_rng(0).normal(size=(50, 23))
    rows[::7, 3] = np.nan
    together = key.hashes(rows)
    alone = [int(key.hashes(rows[i : i + 1])[0]) for i in range(len(rows))]
    assert alone == together.tolist()
