package duckdb

func init() {
	statements["texts of numbers as integers"] = []string{
		"select try_cast(u as bigint), try_cast(u as integer), try_cast(u as ubigint), try_cast(u as tinyint) from (select u || s as u from (values ('9007199254740993.0'),('4503599627370497.5'),('123456789012345678.5'),('0.49999999999999994'),('-0.4'),('-0.5'),('1.'),('.5'),('.'),('1e3'),('1.5e1'),('12345e-2'),('-0'),('-0.0'),('+5'),('+5.5'),('1e-5'),('9223372036854775807.4'),('9223372036854775807.5'),('-9223372036854775808.4'),('-9223372036854775808.5'),('18446744073709551615.2'),('18446744073709551615.5'),('127.4'),('127.5'),('-128.4'),('-128.5'),('1.5e0'),('1e400'),('0.5x'),('1.5 '),('005.5'),('-.5'),('1e'),('1E+2'),('5e-1'),('49e-2'),('15e-1'),('-15e-1'),('nan'),('inf'),('0.00000000000000000000000000005'),('- 5'),('1.2.5'),('+.5'),('-.'),('+-1.5'),('2.4999999999999999999999999999999'),('99999999999999999999999.5')) t(u), (select '' as s) q)",
		"select list_transform(['1.5', s, '2.5e1'], e -> try_cast(e as integer)) from a where id < 4",
		"select sum(try_cast(m::varchar as integer)) over (order by id), max(try_cast(s as bigint)) from a group by id, m",
		"select id from a where try_cast(m::varchar as integer) = try_cast('1' || s as integer)",
		"select try_cast('-0.4' as ubigint), try_cast('1.5' as ubigint), try_cast('-1' as ubigint)",
		"select '9007199254740993.0'::bigint, '4503599627370497.5'::bigint, '0.49999999999999994'::integer, '0x10'::integer, '1_000'::integer, try_cast(u as ubigint) from (select u || s as u from (values ('+0'), ('-00'), ('-01'), ('18446744073709551615'), ('18446744073709551616'), ('+7.')) t(u), (select '' as s) q)",
	}
}
