/* SPDX-License-Identifier: MIT */
/*
 * Converts doubles to text and back, with exactly the results of printf and strtod, but several
 * times faster.
 *
 * A double is m * 2^e. Multiplied by 10^s it is m * 5^s * 2^(e + s), and for numbers between 1e-37
 * and 1e38 this fits into three words without loss. So its digits can be computed exactly and
 * rounded half to even. For smaller and larger numbers the C library is called.
 */
#include "log/log.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 32-bit processors have no 128-bit integers; there the C library converts all numbers, more
 * slowly. */
#ifdef __SIZEOF_INT128__
#define HAS_128_BITS 1
__extension__ typedef unsigned __int128 uint128; /* __int128 is not in ISO C */
#else
#define HAS_128_BITS 0
#endif

enum { MANTISSA_BITS = 52, EXPONENT_BIAS = 1075, FIVES = 27 };

#if HAS_128_BITS
/* Powers of 5. 5^27 is the largest one that fits into 64 bits. */
static const uint64_t fives[FIVES + 1] = {1u,
                                          5u,
                                          25u,
                                          125u,
                                          625u,
                                          3125u,
                                          15625u,
                                          78125u,
                                          390625u,
                                          1953125u,
                                          9765625u,
                                          48828125u,
                                          244140625u,
                                          1220703125u,
                                          6103515625u,
                                          30517578125u,
                                          152587890625u,
                                          762939453125u,
                                          3814697265625u,
                                          19073486328125u,
                                          95367431640625u,
                                          476837158203125u,
                                          2384185791015625u,
                                          11920928955078125u,
                                          59604644775390625u,
                                          298023223876953125u,
                                          1490116119384765625u,
                                          7450580596923828125u};
#endif

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

#if HAS_128_BITS
/* A finite number without its sign: mantissa * 2^exponent. */
struct parts {
    uint64_t mantissa;
    int exponent;
};

static struct parts parts_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    struct parts parts = {bits & ((UINT64_C(1) << MANTISSA_BITS) - 1),
                          (int)(bits >> MANTISSA_BITS & 0x7FF)};
    if (parts.exponent)
        parts.mantissa |= UINT64_C(1) << MANTISSA_BITS;
    else
        parts.exponent = 1;
    parts.exponent -= EXPONENT_BIAS;
    return parts;
}

#endif

/* ---- digits ---- */

/* Writes exactly `count` digits, with leading zeros. */
static void put_digits(uint64_t number, int count, char *out)
{
    while (count >= 2) {
        memcpy(out + count - 2, pairs + number % 100 * 2, 2);
        number /= 100;
        count -= 2;
    }
    if (count)
        *out = (char)('0' + number % 10);
}

static int count_digits(uint64_t number)
{
    int count = 1;
    for (uint64_t limit = 10; number >= limit && count < 20; limit *= 10)
        count++;
    return count;
}

static size_t put_whole(uint64_t number, char *out)
{
    int count = number < UINT64_C(10000000000000000000) ? count_digits(number) : 20;
    put_digits(number, count, out);
    return (size_t)count;
}

/* ---- seventeen digits ---- */

enum { DIGITS = 17 };

struct decimal {
    uint64_t digits; /* the 17 decimal digits as one integer */
    int exponent;    /* power of ten of the first digit */
};

/* Gets the digits from the C library; the decimal point, which depends on the locale, is
 * skipped. */
static struct decimal decimal_slow(double number)
{
    char text[64];
    snprintf(text, sizeof(text), "%.16e", number);
    struct decimal result = {0, 0};
    const char *exponent = strchr(text, 'e');
    for (const char *c = text; c < exponent; c++)
        if (*c >= '0' && *c <= '9')
            result.digits = result.digits * 10 + (uint64_t)(*c - '0');
    result.exponent = atoi(exponent + 1);
    return result;
}

#if HAS_128_BITS

static const uint64_t DIGITS_END = UINT64_C(100000000000000000); /* 10^17 */

/* A number of 192 bits; its lowest word is the first. */
struct wide {
    uint64_t message[3];
};

static struct wide wide_product(uint64_t small, uint128 large)
{
    uint128 low = (uint128)small * (uint64_t)large;
    uint128 high = (uint128)small * (uint64_t)(large >> 64) + (uint64_t)(low >> 64);
    return (struct wide){
        {(uint64_t)low, (uint64_t)high, (uint64_t)(high >> 64)}
    };
}

/* Returns wide >> shift, rounded half to even. 0 < shift < 192; the result must fit 64 bits. */
static uint64_t wide_round(const struct wide *wide, int shift)
{
    int word = shift / 64, bit = shift % 64;
    uint64_t result = wide->message[word] >> bit;
    if (bit && word < 2)
        result |= wide->message[word + 1] << (64 - bit);
    int half_word = (shift - 1) / 64, half_bit = (shift - 1) % 64;
    uint64_t half = UINT64_C(1) << half_bit;
    if (!(wide->message[half_word] & half))
        return result;
    bool more = (wide->message[half_word] & (half - 1)) != 0;
    for (int i = 0; i < half_word; i++)
        more |= wide->message[i] != 0;
    return result + (more || (result & 1));
}

static uint128 five_to(int power)
{
    return power <= FIVES ? fives[power] : (uint128)fives[FIVES] * fives[power - FIVES];
}

/* Returns number / 10^power, rounded half to even. `power` is 1 to 22. */
static uint64_t divide_round(uint128 number, int power)
{
    if (power > FIVES) /* never happens; prevents a warning */
        return 0;
    uint128 divisor = (uint128)fives[power] << power;
    uint64_t result = (uint64_t)(number / divisor);
    uint128 rest = number - result * divisor;
    return result + (rest > divisor - rest || (rest == divisor - rest && (result & 1)));
}

/* Returns number * 10^scale, rounded; the result must have about 17 digits. */
static uint64_t scaled(struct parts parts, int scale)
{
    if (scale < 0)
        return divide_round((uint128)parts.mantissa << parts.exponent, -scale);
    int shift = -(parts.exponent + scale);
    struct wide wide = wide_product(parts.mantissa, five_to(scale));
    return shift > 0 ? wide_round(&wide, shift) : wide.message[0] << -shift;
}

/* Returns the integer part of log10(2^power); |power| must be below 1,700. */
static int log10_of_two_to(int power)
{
    return (power * 1262611) >> 22;
}

/* Returns the digits of a number between 1e-37 and 1e38. */
static struct decimal decimal_of(double number)
{
    struct parts parts = parts_of(number);
    /* the estimated exponent is right or too small by one */
    int exponent = log10_of_two_to(parts.exponent + MANTISSA_BITS);
    uint64_t digits = scaled(parts, DIGITS - 1 - exponent);
    if (digits >= DIGITS_END) {
        exponent++;
        digits = scaled(parts, DIGITS - 1 - exponent);
    }
    return (struct decimal){digits, exponent};
}

#else

static struct decimal decimal_of(double number)
{
    return decimal_slow(number);
}

#endif

static size_t put_exponent(int exponent, char *out)
{
    unsigned size = (unsigned)abs(exponent);
    int count = size >= 100 ? 3 : 2;
    out[0] = 'e';
    out[1] = exponent < 0 ? '-' : '+';
    put_digits(size, count, out + 2);
    return (size_t)count + 2;
}

/* Writes the digits, with a decimal point after the first `whole` digits if more follow. */
static size_t put_pointed(const char *digits, size_t count, size_t whole, char *out)
{
    if (whole >= count) {
        memcpy(out, digits, count);
        memset(out + count, '0', whole - count);
        return whole;
    }
    memcpy(out, digits, whole);
    out[whole] = '.';
    memcpy(out + whole + 1, digits + whole, count - whole);
    return count + 1;
}

static size_t put_decimal(struct decimal decimal, char *out)
{
    char digits[DIGITS];
    put_digits(decimal.digits, DIGITS, digits);
    size_t count = DIGITS;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (decimal.exponent >= DIGITS || decimal.exponent < -4) {
        size_t used = put_pointed(digits, count, 1, out);
        return used + put_exponent(decimal.exponent, out + used);
    }
    if (decimal.exponent >= 0)
        return put_pointed(digits, count, (size_t)decimal.exponent + 1, out);
    size_t zeros = (size_t)-decimal.exponent + 1;
    memcpy(out, "0.0000", zeros);
    memcpy(out + zeros, digits, count);
    return zeros + count;
}

static size_t put_special(double number, char *out)
{
    memcpy(out, isnan(number) ? "nan" : "inf", 3);
    return 3;
}

size_t number_shortest17(double number, char *out)
{
    size_t sign = signbit(number) != 0;
    if (sign)
        *out++ = '-';
    number = fabs(number);
    if (!isfinite(number))
        return sign + put_special(number, out);
    if (number < 1e15 && number == (double)(uint64_t)number)
        return sign + put_whole((uint64_t)number, out);
    bool usual = number > 1e-37 && number < 1e38;
    return sign + put_decimal(usual ? decimal_of(number) : decimal_slow(number), out);
}

/* ---- six decimals ---- */

#if HAS_128_BITS
/* Returns number * 10^6, rounded; the number must be below 2^43. */
static uint64_t millionths(double number)
{
    struct parts parts = parts_of(number);
    uint128 product = (uint128)parts.mantissa * fives[6];
    int shift = -(parts.exponent + 6);
    if (shift <= 0)
        return (uint64_t)(product << -shift);
    if (shift > 100)
        return 0;
    uint64_t result = (uint64_t)(product >> shift);
    uint128 rest = product & (((uint128)1 << shift) - 1), half = (uint128)1 << (shift - 1);
    return result + (rest > half || (rest == half && (result & 1)));
}
#else
static uint64_t millionths(double number)
{
    char text[64];
    uint64_t result = 0;
    snprintf(text, sizeof(text), "%.6f", number);
    for (const char *c = text; *c; c++)
        if (*c >= '0' && *c <= '9')
            result = result * 10 + (uint64_t)(*c - '0');
    return result;
}
#endif

size_t number_fixed6(double number, char *out)
{
    size_t sign = signbit(number) != 0;
    if (sign)
        *out++ = '-';
    number = fabs(number);
    if (!isfinite(number))
        return sign + put_special(number, out);
    size_t whole;
    uint64_t fraction = 0;
    if (number < 0x1p43) {
        uint64_t all = millionths(number);
        fraction = all % 1000000;
        whole = put_whole(all / 1000000, out);
    } else if (number >= 0x1p63) /* numbers from 2^63 on are integers, and "%.0f" prints no decimal
                                  * point */
        whole = (size_t)snprintf(out, NUMBER_FIXED_SIZE - 8, "%.0f", number);
    else {
        /* the two parts are exact, because the number has at most 10 bits after the binary point */
        whole = put_whole((uint64_t)number, out);
        fraction = millionths(number - (double)(uint64_t)number);
    }
    out[whole] = '.';
    put_digits(fraction, 6, out + whole + 1);
    return sign + whole + 7;
}

/* ---- reading ---- */

/* The number that is being parsed, as digits * 10^power. */
struct digit_scan {
    uint64_t digits;
    int power, used;
    bool more; /* digits other than 0 were dropped after `digits` */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits and keeps the first 19. `point`: the digits are after the decimal point. Returns
 * false if there are no digits. */
static bool scan_digits(const char **cursor, const char *end, bool point, struct digit_scan *scan)
{
    const char *start = *cursor;
    for (; *cursor < end && is_digit(**cursor); ++*cursor) {
        int digit = **cursor - '0';
        if (scan->used < 19) {
            scan->digits = scan->digits * 10 + (uint64_t)digit;
            scan->used += scan->digits != 0;
            scan->power -= point;
        } else {
            scan->more |= digit != 0;
            scan->power += !point;
        }
    }
    return *cursor > start;
}

/* Parses an exponent such as "e-05". Returns true if there is no exponent, too. */
static bool scan_exponent(const char **cursor, const char *end, struct digit_scan *scan)
{
    if (*cursor == end || (**cursor | 0x20) != 'e')
        return true;
    const char *c = *cursor + 1;
    bool negative = c < end && *c == '-';
    c += c < end && (*c == '-' || *c == '+');
    if (c == end || !is_digit(*c))
        return false;
    int power = 0;
    for (; c < end && is_digit(*c); c++)
        power = power < 100000 ? power * 10 + (*c - '0') : power;
    scan->power += negative ? -power : power;
    *cursor = c;
    return true;
}

#if HAS_128_BITS

/* Returns number * 2^exponent, rounded half to even. `more`: the true number is slightly larger;
 * the number then has 64 bits or more. */
static double to_double(uint128 number, int exponent, bool more)
{
    int bits = number >> 64 ? 128 - __builtin_clzll((uint64_t)(number >> 64))
                            : 64 - __builtin_clzll((uint64_t)number);
    int shift = bits - (MANTISSA_BITS + 1);
    if (shift <= 0)
        return ldexp((double)(uint64_t)number, exponent);
    uint64_t result = (uint64_t)(number >> shift);
    uint128 rest = number & (((uint128)1 << shift) - 1), half = (uint128)1 << (shift - 1);
    result += rest > half || (rest == half && (more || (result & 1)));
    return ldexp((double)result, exponent + shift);
}

/* Returns the number's value. The value is exactly rounded if the power of five fits into 64
 * bits. */
static double scan_value(const struct digit_scan *scan)
{
    if (scan->digits == 0)
        return 0;
    if (scan->power >= 0)
        return to_double((uint128)scan->digits * fives[scan->power], scan->power, false);
    int lift = __builtin_clzll(scan->digits) + 64;
    uint128 number = (uint128)scan->digits << lift;
    uint64_t five = fives[-scan->power];
    return to_double(number / five, scan->power - lift, number % five != 0);
}

#else

static double scan_value(const struct digit_scan *scan)
{
    return 0; /* cannot be reached without 128-bit integers */
}

#endif

/* Parses with strtod, after replacing the point by the decimal point of the locale. */
static bool parse_slow(const char *text, size_t size, double *ret)
{
    char copy[1100];
    const char *point = localeconv()->decimal_point;
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        if (used + strlen(point) + 1 >= sizeof(copy))
            return false;
        if (text[i] == '.')
            used += (size_t)(stpcpy(copy + used, point) - (copy + used));
        else
            copy[used++] = text[i];
    }
    copy[used] = '\0';
    char *end;
    *ret = strtod(copy, &end);
    return *end == '\0';
}

/* Scans digits with a point and an exponent; false: there is something else before `end`. */
static bool scan_number(const char *c, const char *end, struct digit_scan *scan)
{
    bool some = scan_digits(&c, end, false, scan);
    if (c < end && *c == '.') {
        c++;
        some |= scan_digits(&c, end, true, scan);
    }
    return some && scan_exponent(&c, end, scan) && c == end;
}

bool number_parse(const char *text, size_t size, double *ret)
{
    const char *c = text, *end = text + size;
    while (c < end && *c == ' ')
        c++;
    while (end > c && end[-1] == ' ')
        end--;
    const char *start = c;
    bool negative = c < end && *c == '-';
    c += c < end && (*c == '-' || *c == '+');
    struct digit_scan scan = {0};
    if (!scan_number(c, end, &scan))
        return false;
    if (!HAS_128_BITS || scan.more || abs(scan.power) > FIVES)
        return parse_slow(start, (size_t)(end - start), ret);
    double value = scan_value(&scan);
    *ret = negative ? -value : value;
    return true;
}
