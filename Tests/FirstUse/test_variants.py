"""Processors with AVX-512, or without AVX2, find their variants of functions beside those that the emulated one uses."""

from first_use import with_variants

ORDER = ["_start", "__strlen_avx2", "__memmove_avx_unaligned_erms", "aesni_gcm_initkey"]


def added(*symbols, order=ORDER):
    found = with_variants(order, {*symbols, *order})
    assert found[-len(order):] == order
    return found[:-len(order)]


def test_every_variant_of_a_used_function_comes_first():
    symbols = ["__strlen_evex", "__strlen_sse2", "__memmove_avx512_unaligned_erms", "vaes_gcm_setkey"]
    assert added(*symbols) == sorted(symbols)


def test_other_functions_are_left_where_they_are():
    assert added("__strcpy_evex", "__strlen_avx2_rtm", "__strlen_generic", "strlen", "ossl_aes_gcm_init_avx512") == []


def test_without_aes_instructions_their_code_is_not_needed():
    assert added("vaes_gcm_setkey", order=["_start"]) == []


def test_libc_itself_searches_strings_where_it_has_avx512():
    assert added("__strstr_avx512", "__strstr_sse2_unaligned", order=["_start"]) == [
        "__strstr_avx512", "__strstr_sse2_unaligned"]
