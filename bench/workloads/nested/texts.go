package nested

import (
	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// texts are questions about lines of a log, notes and names.
var texts = []question.Question{
	{
		Name: "bytes by status of log lines",
		SQL: `
select regexp_extract(line, '" (\d{3}) (\d+) "', 1) as status, count(*) as n, sum(regexp_extract(line, '" (\d{3}) (\d+) "', 2)::bigint) as bytes
from log
group by status`,
		Go: func(t question.Tables) gpuframe.Query {
			pattern := `" (\d{3}) (\d+) "`
			return t["log"].
				GroupBy(logged.ExtractRegex(pattern, 1).As("status")).
				Agg(gpuframe.Count().As("n"), logged.ExtractRegex(pattern, 2).Cast(integer).Sum().As("bytes"))
		},
	},
	{
		Name: "most frequent paths",
		SQL: `
select split_part(split_part(split_part(line, '"', 2), ' ', 2), '?', 1) as path, count(*) as n
from log
group by path
order by n desc, path
limit 20`,
		Go: func(t question.Tables) gpuframe.Query {
			path := logged.SplitPart(`"`, 2).SplitPart(" ", 2).SplitPart("?", 1)
			return t["log"].
				GroupBy(path.As("path")).Agg(gpuframe.Count().As("n")).
				Top(20, n.Desc(), "path")
		},
		Order: []string{"n", "path"},
	},
	{
		Name: "parameters of a query",
		SQL: `
select split_part(pair, '=', 1) as name, split_part(pair, '=', 2) as value, count(*) as n
from (select unnest(regexp_extract_all(line, '[?&](\w+=\w+)', 1)) as pair from log)
group by name, value`,
		Go: func(t question.Tables) gpuframe.Query {
			pair := gpuframe.Col("pair")
			return t["log"].
				Select(logged.ExtractAllRegex(`[?&](\w+=\w+)`, 1).As("pair")).
				ExplodeWith(gpuframe.ExplodeOptions{DropEmpty: true}, "pair").
				GroupBy(pair.SplitPart("=", 1).As("name"), pair.SplitPart("=", 2).As("value")).
				Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "errors of each hour and client",
		SQL: `
select hour(regexp_extract(line, '\[(.*?)\]', 1)::timestamp) as hour, split_part(line, ' ', 1) as client, count(*) as n
from log
where line like '%" 500 %' or line like '%" 404 %'
group by hour, client
having n > 1`,
		Go: func(t question.Tables) gpuframe.Query {
			at := logged.ExtractRegex(`\[(.*?)\]`, 1).ParseTime("%Y-%m-%d %H:%M:%S", timestamp)
			return t["log"].
				Filter(logged.Like(`%" 500 %`).Or(logged.Like(`%" 404 %`))).
				GroupBy(at.Hour().As("hour"), logged.SplitPart(" ", 1).As("client")).Agg(gpuframe.Count().As("n")).
				Filter(n.Gt(1))
		},
	},
	{
		Name: "numbers replaced in paths",
		SQL: `
select regexp_replace(split_part(split_part(line, '"', 2), '?', 1), '\d+', 'N', 'g') as request, count(*) as n
from log
group by request`,
		Go: func(t question.Tables) gpuframe.Query {
			request := logged.SplitPart(`"`, 2).SplitPart("?", 1).ReplaceRegex(`\d+`, "N")
			return t["log"].GroupBy(request.As("request")).Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "words of notes",
		SQL: `
select word, count(*) as n
from (select unnest(string_split(lower(note), ' ')) as word from orders)
where len(word) > 2
group by word`,
		Go: func(t question.Tables) gpuframe.Query {
			word := gpuframe.Col("word")
			return t["orders"].
				Select(note.Lower().Split(" ").As("word")).
				ExplodeWith(gpuframe.ExplodeOptions{DropEmpty: true}, "word").
				Filter(word.LengthChars().Gt(2)).
				GroupBy("word").Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "notes that begin or end with a word",
		SQL: `
select starts_with(note, 'Ring') as rings, count(*) as n, max(length(note)) as longest
from orders
where starts_with(note, 'Ring') or note like '%thanks'
group by rings`,
		Go: func(t question.Tables) gpuframe.Query {
			rings := note.HasPrefix("Ring")
			return t["orders"].
				Filter(rings.Or(note.HasSuffix("thanks"))).
				GroupBy(rings.As("rings")).Agg(gpuframe.Count().As("n"), note.LengthChars().Max().As("longest"))
		},
	},
	{
		Name: "names without accents and case",
		SQL: `
select lower(strip_accents(trim(name))) as name, count(*) as n
from people
group by 1`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].
				GroupBy(name.Trim().StripAccents().Lower()).Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "names that are nearly equal",
		SQL: `
with names as (select distinct lower(strip_accents(trim(name))) as name from people)
select a.name, b.name as other, levenshtein(a.name, b.name) as distance
from names a join names b on a.name < b.name
where levenshtein(a.name, b.name) < 5`,
		Go: func(t question.Tables) gpuframe.Query {
			names := t["people"].Select(name.Trim().StripAccents().Lower()).Distinct()
			other, distance := gpuframe.Col("other"), gpuframe.Col("distance")
			return names.
				Join(names.Rename("name", "other"), gpuframe.Inner, gpuframe.Matching(name.Expr.Lt(other))).
				With(name.EditDistance(other).As("distance")).
				Filter(distance.Lt(5))
		},
	},
	{
		Name: "domains of addresses",
		SQL: `
select substr(email, strpos(email, '@') + 1) as domain, count(*) as n
from people
group by domain`,
		Go: func(t question.Tables) gpuframe.Query {
			domain := email.SubstringAt(email.Find("@").Add(1), email.LengthChars())
			return t["people"].GroupBy(domain.As("domain")).Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "lines of fixed width",
		SQL: `
select lpad(id::varchar, 8, '0') || ' ' || rpad(split_part(email, '@', 1), 10, '.') as line
from people`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].Select(gpuframe.Concat(gpuframe.Printf("%08d", id), " ", email.SplitPart("@", 1).PadEnd(10, '.')).As("line"))
		},
	},
	{
		Name: "addresses of a name in one text",
		SQL: `
select trim(name) as name, string_agg(email, '; ' order by email) as emails
from people
where id < 2000
group by 1`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].
				Filter(id.Lt(2000)).
				GroupBy(name.Trim()).Agg(email.JoinStrings("; ").OrderBy(email).As("emails"))
		},
	},
	{
		Name: "digests of texts",
		SQL: `
select left(sha256(email), 2) as shard, count(*) as n, min(md5(email)) as least
from people
group by shard`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].
				GroupBy(email.SHA256().Substring(1, 2).As("shard")).
				Agg(gpuframe.Count().As("n"), email.MD5().Min().As("least"))
		},
	},
}
