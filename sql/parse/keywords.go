package parse

import "strings"

// class is a class of keywords: the places in which a keyword may be a name.
type class uint8

// The classes of keywords.
const (
	// notKeyword is a word that is no keyword.
	notKeyword class = iota
	// unreserved words may be any name.
	unreserved
	// columnWord may be the name of a column or a table, but not of a function.
	columnWord
	// functionWord may be the name of a function, but not of a column or a table.
	functionWord
	// reserved words may only be labels behind AS.
	reserved
)

// unreservedWords are the keywords of the class unreserved.
const unreservedWords = `
abort absolute access action add admin after aggregate also alter always assertion assignment attach attribute
backward before begin cache call called cascade cascaded catalog centuries century chain characteristics
checkpoint class close cluster columns comment comments commit committed compression configuration conflict
connection constraints content continue conversion copy cost csv cube current cursor cycle data database day
days deallocate decade decades declare defaults deferred definer delete delimiter delimiters depends detach
dictionary disable discard document domain double drop each enable encoding encrypted enum error escape event
exclude excluding exclusive execute explain export export_state extension extensions external family filter
first following force forward function functions generated global grant granted groups handler header hold
hour hours identity if ignore immediate immutable implicit import include including increment index indexes
inherit inherits inline input insensitive insert install instead invoker isolation json key label language
large last leakproof level listen load local location lock locked logged macro map mapping match matched
materialized maxvalue merge method microsecond microseconds millennia millennium millisecond milliseconds
minute minutes minvalue mode month months move name names new next no nothing notify nowait nulls object of
off oids old operator option options ordinality others over overriding owned owner parallel parser partial
partition partitioned passing password percent persistent plans policy pragma preceding prepare prepared
preserve prior privileges procedural procedure program publication quarter quarters quote range read reassign
recheck recursive ref referencing refresh reindex relative release rename repeatable replace replica reset
respect restart restrict returns revoke role rollback rollup rows rule sample savepoint schema schemas scope
scroll search second seconds secret security sequence sequences serializable server session set sets share
simple skip snapshot sorted source sql stable standalone start statement statistics stdin stdout storage
stored strict strip struct subscription sysid system tables tablespace target temp template temporary text
ties transaction transform trigger truncate trusted try_cast type types unbounded uncommitted unencrypted
unknown unlisten unlogged until update use user vacuum valid validate validator value variable varying version
view views virtual volatile week weeks whitespace within without work wrapper write xml year years yes zone`

// columnWords are the keywords of the class columnWord.
const columnWords = `
between bigint bit boolean char character coalesce dec decimal exists extract float grouping grouping_id inout
int integer interval national nchar none nullif numeric out overlay position precision real row setof smallint
substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists xmlforest
xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`

// functionWords are the keywords of the class functionWord.
const functionWords = `
anti asof at authorization binary by collation concurrently cross freeze full glob ilike inner is isnull join
left like natural notnull outer overlaps positional right semi similar tablesample unpack verbose`

// reservedWords are the keywords of the class reserved.
const reservedWords = `
all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create
default deferrable desc describe distinct do else end except false fetch for foreign from group having in
initially intersect into lambda lateral leading limit not null offset on only or order pivot pivot_longer
pivot_wider placing primary qualify references returning select show some summarize symmetric table then to
trailing true union unique unpivot using variadic when where window with`

// keywords has the class of each keyword, in lower case.
var keywords = keywordClasses()

// longestKeyword is the length of the longest keyword.
const longestKeyword = 15

// keywordClasses reads the lists of words.
func keywordClasses() map[string]class {
	classes := map[string]class{}
	for c, words := range map[class]string{
		unreserved: unreservedWords, columnWord: columnWords, functionWord: functionWords, reserved: reservedWords,
	} {
		for word := range strings.FieldsSeq(words) {
			classes[word] = c
		}
	}
	return classes
}

// keyword returns the keyword that a word is in any case, in lower case, and its class.
func keyword(text string) (word string, c class) {
	if len(text) > longestKeyword {
		return "", notKeyword
	}
	lower := [longestKeyword]byte{}
	for i := range len(text) {
		b := text[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	c = keywords[string(lower[:len(text)])]
	if c == notKeyword {
		return "", notKeyword
	}
	return strings.ToLower(text), c
}
