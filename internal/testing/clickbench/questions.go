package clickbench

import (
	"fmt"
	"regexp"
)

// Questions are the 43 questions. Those with LIMIT leave open which of equal rows come, so answers to them may
// differ in rows with equal keys.
var Questions = []string{
	`select count(*) from hits`,
	`select count(*) from hits where AdvEngineID <> 0`,
	`select sum(AdvEngineID), count(*), avg(ResolutionWidth) from hits`,
	`select avg(UserID) from hits`,
	`select count(distinct UserID) from hits`,
	`select count(distinct SearchPhrase) from hits`,
	`select min(EventDate), max(EventDate) from hits`,
	`select AdvEngineID, count(*) from hits where AdvEngineID <> 0 group by AdvEngineID order by count(*) desc`,
	`select RegionID, count(distinct UserID) as u from hits group by RegionID order by u desc limit 10`,
	`select RegionID, sum(AdvEngineID), count(*) as c, avg(ResolutionWidth), count(distinct UserID)
	 from hits group by RegionID order by c desc limit 10`,
	`select MobilePhoneModel, count(distinct UserID) as u
	 from hits where MobilePhoneModel <> '' group by MobilePhoneModel order by u desc limit 10`,
	`select MobilePhone, MobilePhoneModel, count(distinct UserID) as u
	 from hits where MobilePhoneModel <> '' group by MobilePhone, MobilePhoneModel order by u desc limit 10`,
	`select SearchPhrase, count(*) as c from hits where SearchPhrase <> '' group by SearchPhrase order by c desc limit 10`,
	`select SearchPhrase, count(distinct UserID) as u
	 from hits where SearchPhrase <> '' group by SearchPhrase order by u desc limit 10`,
	`select SearchEngineID, SearchPhrase, count(*) as c
	 from hits where SearchPhrase <> '' group by SearchEngineID, SearchPhrase order by c desc limit 10`,
	`select UserID, count(*) from hits group by UserID order by count(*) desc limit 10`,
	`select UserID, SearchPhrase, count(*) from hits group by UserID, SearchPhrase order by count(*) desc limit 10`,
	`select UserID, SearchPhrase, count(*) from hits group by UserID, SearchPhrase limit 10`,
	`select UserID, extract(minute from EventTime) as m, SearchPhrase, count(*)
	 from hits group by UserID, m, SearchPhrase order by count(*) desc limit 10`,
	`select UserID from hits where UserID = 435090932899640449`,
	`select count(*) from hits where URL like '%google%'`,
	`select SearchPhrase, min(URL), count(*) as c
	 from hits where URL like '%google%' and SearchPhrase <> '' group by SearchPhrase order by c desc limit 10`,
	`select SearchPhrase, min(URL), min(Title), count(*) as c, count(distinct UserID)
	 from hits where Title like '%Google%' and URL not like '%.google.%' and SearchPhrase <> ''
	 group by SearchPhrase order by c desc limit 10`,
	`select * from hits where URL like '%google%' order by EventTime limit 10`,
	`select SearchPhrase from hits where SearchPhrase <> '' order by EventTime limit 10`,
	`select SearchPhrase from hits where SearchPhrase <> '' order by SearchPhrase limit 10`,
	`select SearchPhrase from hits where SearchPhrase <> '' order by EventTime, SearchPhrase limit 10`,
	`select CounterID, avg(length(URL)) as l, count(*) as c
	 from hits where URL <> '' group by CounterID having count(*) > 100000 order by l desc limit 25`,
	`select regexp_replace(Referer, '^https?://(?:www\.)?([^/]+)/.*$', '\1') as k, avg(length(Referer)) as l, count(*) as c, min(Referer)
	 from hits where Referer <> '' group by k having count(*) > 100000 order by l desc limit 25`,
	sumsOfWidths(),
	`select SearchEngineID, ClientIP, count(*) as c, sum(IsRefresh), avg(ResolutionWidth)
	 from hits where SearchPhrase <> '' group by SearchEngineID, ClientIP order by c desc limit 10`,
	`select WatchID, ClientIP, count(*) as c, sum(IsRefresh), avg(ResolutionWidth)
	 from hits where SearchPhrase <> '' group by WatchID, ClientIP order by c desc limit 10`,
	`select WatchID, ClientIP, count(*) as c, sum(IsRefresh), avg(ResolutionWidth)
	 from hits group by WatchID, ClientIP order by c desc limit 10`,
	`select URL, count(*) as c from hits group by URL order by c desc limit 10`,
	`select 1, URL, count(*) as c from hits group by 1, URL order by c desc limit 10`,
	`select ClientIP, ClientIP - 1, ClientIP - 2, ClientIP - 3, count(*) as c
	 from hits group by ClientIP, ClientIP - 1, ClientIP - 2, ClientIP - 3 order by c desc limit 10`,
	`select URL, count(*) as PageViews from hits
	 where CounterID = 62 and EventDate >= '2013-07-01' and EventDate <= '2013-07-31' and DontCountHits = 0 and IsRefresh = 0 and URL <> ''
	 group by URL order by PageViews desc limit 10`,
	`select Title, count(*) as PageViews from hits
	 where CounterID = 62 and EventDate >= '2013-07-01' and EventDate <= '2013-07-31' and DontCountHits = 0 and IsRefresh = 0 and Title <> ''
	 group by Title order by PageViews desc limit 10`,
	`select URL, count(*) as PageViews from hits
	 where CounterID = 62 and EventDate >= '2013-07-01' and EventDate <= '2013-07-31' and IsRefresh = 0 and IsLink <> 0 and IsDownload = 0
	 group by URL order by PageViews desc limit 10 offset 1000`,
	`select TraficSourceID, SearchEngineID, AdvEngineID,
	        case when SearchEngineID = 0 and AdvEngineID = 0 then Referer else '' end as Src, URL as Dst, count(*) as PageViews
	 from hits where CounterID = 62 and EventDate >= '2013-07-01' and EventDate <= '2013-07-31' and IsRefresh = 0
	 group by TraficSourceID, SearchEngineID, AdvEngineID, Src, Dst order by PageViews desc limit 10 offset 1000`,
	`select URLHash, EventDate, count(*) as PageViews from hits
	 where CounterID = 62 and EventDate >= '2013-07-01' and EventDate <= '2013-07-31' and IsRefresh = 0
	       and TraficSourceID in (-1, 6) and RefererHash = 3594120000172545465
	 group by URLHash, EventDate order by PageViews desc limit 10 offset 100`,
	`select WindowClientWidth, WindowClientHeight, count(*) as PageViews from hits
	 where CounterID = 62 and EventDate >= '2013-07-01' and EventDate <= '2013-07-31' and IsRefresh = 0
	       and DontCountHits = 0 and URLHash = 2868770270353813622
	 group by WindowClientWidth, WindowClientHeight order by PageViews desc limit 10 offset 10000`,
	`select date_trunc('minute', EventTime) as M, count(*) as PageViews from hits
	 where CounterID = 62 and EventDate >= '2013-07-14' and EventDate <= '2013-07-15' and IsRefresh = 0 and DontCountHits = 0
	 group by date_trunc('minute', EventTime) order by date_trunc('minute', EventTime) limit 10 offset 1000`,
}

// limits is LIMIT with its number.
var limits = regexp.MustCompile(`(?i)\s+limit\s+\d+(\s+offset\s+\d+)?\s*;?\s*$`)

// WithoutLimit returns a question without its LIMIT. Among rows with equal keys, any may be first, so that
// answers of two engines can be compared only without it.
func WithoutLimit(question string) string { return limits.ReplaceAllString(question, "") }

// sumsOfWidths is the question with 90 sums.
func sumsOfWidths() string {
	text := "select sum(ResolutionWidth)"
	for i := 1; i < 90; i++ {
		text += fmt.Sprintf(", sum(ResolutionWidth + %d)", i)
	}
	return text + " from hits"
}
