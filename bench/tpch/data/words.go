package data

import (
	"sort"
	"strings"
)

// Lists of the specification, section 4.2.2.13.
var (
	colours = strings.Fields(`almond antique aquamarine azure beige bisque black blanched blue blush brown
		burlywood burnished chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim
		dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot indian
		ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint
		misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder puff purple
		red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel tan thistle
		tomato turquoise violet wheat white yellow`)
	typeSizes     = []string{"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"}
	typeCoatings  = []string{"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"}
	typeMetals    = []string{"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"}
	boxSizes      = []string{"SM", "LG", "MED", "JUMBO", "WRAP"}
	boxKinds      = []string{"CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"}
	segments      = []string{"AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"}
	priorities    = []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"}
	instructions  = []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"}
	modes         = []string{"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"}
	regions       = []string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"}
	returnedFlags = []string{"R", "A"}
)

// nations are the names, each with the number of its region.
var nations = []struct {
	name   string
	region int64
}{
	{"ALGERIA", 0}, {"ARGENTINA", 1}, {"BRAZIL", 1}, {"CANADA", 1}, {"EGYPT", 4}, {"ETHIOPIA", 0}, {"FRANCE", 3},
	{"GERMANY", 3}, {"INDIA", 2}, {"INDONESIA", 2}, {"IRAN", 4}, {"IRAQ", 4}, {"JAPAN", 2}, {"JORDAN", 4}, {"KENYA", 0},
	{"MOROCCO", 0}, {"MOZAMBIQUE", 0}, {"PERU", 1}, {"CHINA", 2}, {"ROMANIA", 3}, {"SAUDI ARABIA", 4}, {"VIETNAM", 2},
	{"RUSSIA", 3}, {"UNITED KINGDOM", 3}, {"UNITED STATES", 1},
}

// weighted is a list of texts that are drawn with different frequencies.
type weighted struct {
	texts []string
	// ends has the sum of the weights up to each text.
	ends []int64
}

// also adds texts that are separated by commas, each with a weight.
func (w weighted) also(weight int64, list string) weighted {
	for text := range strings.SplitSeq(list, ",") {
		end := weight
		if n := len(w.ends); n > 0 {
			end += w.ends[n-1]
		}
		w.texts, w.ends = append(w.texts, strings.TrimSpace(text)), append(w.ends, end)
	}
	return w
}

func (w weighted) pick(r *random) string {
	x := r.below(w.ends[len(w.ends)-1])
	return w.texts[sort.Search(len(w.ends), func(i int) bool { return x < w.ends[i] })]
}

// Words of the grammar of comments, section 4.2.2.14.
var (
	nouns = weighted{}.
		also(40, "packages, requests, accounts, deposits").
		also(20, "foxes, ideas, theodolites, pinto beans, instructions").
		also(10, "dependencies, excuses, platelets, asymptotes").
		also(5, "courts, dolphins").
		also(1, `multipliers, sauternes, warthogs, frets, dinos, attainments, somas, Tiresias, patterns, forges,
			braids, frays, warhorses, dugouts, notornis, epitaphs, pearls, tithes, waters, orbits, gifts, sheaves, depths,
			sentiments, decoys, realms, pains, grouches, escapades, hockey players`)
	verbs = weighted{}.
		also(20, "sleep, wake, are, cajole, haggle").
		also(10, "nag, use, boost").
		also(5, "affix, detect, integrate").
		also(1, `maintain, nod, was, lose, sublate, solve, thrash, promise, engage, hinder, print, x-ray, breach, eat,
			grow, impress, mold, poach, serve, run, dazzle, snooze, doze, unwind, kindle, play, hang, believe, doubt`)
	adjectives = weighted{}.
			also(50, "regular").
			also(40, "final, ironic").
			also(30, "even").
			also(20, "special, pending, unusual, express, bold").
			also(10, "silent").
			also(1, `furious, sly, careful, blithe, quick, fluffy, slow, quiet, ruthless, thin, close, dogged, daring, brave,
			stealthy, permanent, enticing, idle, busy`)
	adverbs = weighted{}.
		also(50, "furiously, slyly, carefully").
		also(40, "blithely").
		also(30, "quickly").
		also(20, "fluffily").
		also(1, `sometimes, always, never, slowly, quietly, ruthlessly, thinly, closely, doggedly, daringly, bravely,
			stealthily, permanently, enticingly, idly, busily, regularly, finally, ironically, evenly, boldly, silently`)
	prepositions = weighted{}.
			also(50, "about, above, according to, across, after").
			also(40, "against, along").
			also(30, "alongside of, among").
			also(20, "around").
			also(10, "at").
			also(1, `atop, before, behind, beneath, beside, besides, between, beyond, by, despite, during, except, for,
			from, in place of, inside, instead of, into, near, of, on, outside, over, past, since, through, throughout,
			to, toward, under, until, up, upon, without, with, within`)
	auxiliaries = weighted{}.also(1, `do, may, might, shall, will, would, can, could, should, ought to, must, will have to,
		shall have to, could have to, should have to, must have to, need to, try to`)
	terminators = weighted{}.also(50, ".").also(1, ";, :, ?, !, --")
)

// Forms of the grammar: N is a noun, J an adjective, D an adverb, V a verb, X an auxiliary
// verb; n, v and p are the phrases of a noun, a verb and a preposition.
var (
	sentences   = weighted{}.also(3, "nv, nvp, nvn").also(1, "npvn, npvp")
	verbPhrases = weighted{}.also(30, "V").also(1, "X V").also(40, "V D").also(1, "X V D")
	nounPhrases = weighted{texts: []string{"N", "J N", "J, J N", "D J N"}, ends: []int64{10, 30, 40, 90}}
)
