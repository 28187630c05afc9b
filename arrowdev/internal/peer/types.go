package peer

// FlatTypes returns the types of one array, including every format string of the
// standard that arrow-go knows.
func FlatTypes() []string {
	return []string{
		"n", "b", "c", "C", "s", "S", "i", "I", "l", "L", "e", "f", "g",
		"d:30,3", "d:60,3,256", "d:10,-2", "w:5", "w:16", "w:0",
		"tdD", "tdm", "tts", "ttm", "ttu", "ttn", "tDs", "tDm", "tDu", "tDn", "tiM", "tiD", "tin",
		"tss:", "tsm:", "tsu:", "tsn:", "tss:Europe/Berlin", "tsn:UTC",
		"z", "Z", "u", "U", "vz", "vu", "!i", "!u", "!vu", "!b",
	}
}

// NestedTypes are types made of others.
func NestedTypes() []string {
	return []string{
		"+l(item=i)", "+L(item=u)", "+w:3(item=s)", "+w:0(item=i)", "+vl(item=u)", "+vL(item=i)",
		"+l(item!=b)", "!+l(item!=l)", "+w:4(item!=b)",
		"+s(a=i;b!=u;c=b)", "+s()", "!+s(a!=g)", "+s(only=vu)",
		"+m(entries=+s(key=u;value=i))", "+m(entries=+s(key=i;value=+l(item=f)))",
		"+us:4,5(a=i;b=f)", "+ud:4,5(a=i;b=u)", "+us:0,1,127(a=u;b=n;c=+l(item=i))", "+ud:7(a=vu)",
		"c<u>", "S<U>", "l<i>", "!i<vu>", "C<+l(item=i)>", "i<+s(a=u;b=c)>", "s<c<u>>",
		"+r(run_ends=i;values=u)", "+r(run_ends=s;values=i)", "+r(run_ends=l;values=b)", "+r(run_ends=i;values=+l(item=u))",
		"+l(item=+l(item=+l(item=u)))", "+l(item=+s(a=+w:2(item=i);b=+us:1,2(x=u;y=c<u>)))",
		"+s(a=+s(b=+s(c=vz)))", "+l(item=c<u>)", "+w:2(item=+vl(item=+m(entries=+s(key=u;value=vu))))",
		"+ud:1,2(a=+ud:3(b=i);b=+us:9(c=u))", "+l(item=+r(run_ends=i;values=vu))", "+vl(item=+s(a=tsn:UTC;b=d:12,5))",
		"+s(a=+r(run_ends=i;values=c<u>);b=n)", "+L(item=+ud:0,1(a=b;b=vu))",
	}
}

// Types are all of them.
func Types() []string { return append(FlatTypes(), NestedTypes()...) }
