// Columns as aggregates read them: struct source of source.go.
#pragma once

#include "bitrow.cuh"
#include "keys.cuh"
#include "scan.cuh"

// Form is how the values of a source are stored.
//go:layout form
enum Form : u32 {
    // from_nothing has no values; greatest takes the numbers of the rows.
    from_nothing, from_bits,
    from_i8, from_i16, from_i32, from_i64,
    from_u8, from_u16, from_u32, from_u64,
    from_f16, from_f32, from_f64,
    from_decimal,
    // from_states has the states of accumulators.
    from_states,
};

//go:layout sourceLayout
struct Source {
    // values begins with the value of the first row; booleans begin with bit bit of it.
    // valid is null if no row is null.
    const u8 *values, *valid;
    u64 bit;
    u32 form, width;

    METHOD bool is_valid(u64 row) const { return valid == nullptr || (valid[bit + row >> 3] >> (bit + row & 7) & 1) != 0; }

    METHOD bool is_true(u64 row) const { return (values[bit + row >> 3] >> (bit + row & 7) & 1) != 0; }

    METHOD bool is_float() const { return form >= from_f16 && form <= from_f64; }

    METHOD bool is_signed() const { return form >= from_i8 && form <= from_i64; }

    // load returns a value: a float as the bits of a float64, any other number extended to
    // 64 bits by its sign.
    METHOD u64 load(u64 row) const {
        f64 real;
        switch (form) {
        case from_bits: return is_true(row);
        case from_i8: return (i64)((const i8 *)values)[row];
        case from_i16: return (i64)((const i16 *)values)[row];
        case from_i32: return (i64)((const i32 *)values)[row];
        case from_u8: return values[row];
        case from_u16: return ((const u16 *)values)[row];
        case from_u32: return ((const u32 *)values)[row];
        case from_f16: asm("cvt.f64.f16 %0, %1;" : "=d"(real) : "h"(((const u16 *)values)[row])); break;
        case from_f32: real = (f64)((const f32 *)values)[row]; break;
        default: return ((const u64 *)values)[row];
        }
        return __builtin_bit_cast(u64, real);
    }

    // load_rows loads the values of several rows as load does. The loads are in flight together,
    // because the form is chosen once.
    template <u32 n> METHOD void load_rows(const u64 (&row)[n], u64 (&x)[n]) const {
        switch (form) {
        case from_i8: return load_as<i8>(row, x);
        case from_i16: return load_as<i16>(row, x);
        case from_i32: return load_as<i32>(row, x);
        case from_u8: return load_as<u8>(row, x);
        case from_u16: return load_as<u16>(row, x);
        case from_u32: return load_as<u32>(row, x);
        case from_i64:
        case from_u64:
        case from_f64: return load_as<u64>(row, x);
        }
#pragma unroll
        for (u32 i = 0; i < n; i++)
            x[i] = load(row[i]);
    }

    template <typename T, u32 n> METHOD void load_as(const u64 (&row)[n], u64 (&x)[n]) const {
        T value[n];
#pragma unroll
        for (u32 i = 0; i < n; i++)
            value[i] = ((const T *)values)[row[i]];
#pragma unroll
        for (u32 i = 0; i < n; i++)
            x[i] = (u64)(i64)value[i];
    }

    // real returns a loaded value as float64.
    METHOD f64 real(u64 loaded) const {
        return is_float() ? __builtin_bit_cast(f64, loaded) : form == from_u64 ? (f64)loaded : (f64)(i64)loaded;
    }

    // image returns a loaded value as a number of the same order, and 0 for NaN. If zeros is
    // set, −0 is 0.
    METHOD u64 image(u64 loaded, bool least, bool zeros) const {
        u64 image = loaded ^ (is_signed() ? 1ull << 63 : 0);
        if (is_float()) {
            if (is_nan_f64(loaded))
                return 0;
            image = ordered_f64(zeros && loaded == 1ull << 63 ? 0 : loaded);
        }
        return least ? ~image : image;
    }
};
