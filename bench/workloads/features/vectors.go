package features

import (
	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// vectorQuestions are about vectors. Their numbers are float32: answers are the rows that they choose.
var vectorQuestions = []question.Question{
	{
		Name: "documents like the first one",
		SQL: `
select d.id, d.topic
from documents d, (select embedding from documents where id = 0) q
order by array_cosine_similarity(d.embedding, q.embedding) desc
limit 10`,
		Go: func(t question.Tables) gpuframe.Query {
			first := t["documents"].Filter(id.Eq(0)).Select("embedding")
			return first.
				NearestTo(t["documents"], "embedding", 10, gpuframe.NearestOptions{Metric: gpuframe.Cosine}).
				Select("id", "topic")
		},
	},
	{
		Name: "ten nearest documents of each request",
		SQL: `
select q.id as request, d.id as document, row_number() over (partition by q.id order by array_distance(q.embedding, d.embedding)) as rank
from requests q, documents d
qualify rank <= 10`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["requests"].
				Select(id.As("request"), "embedding").
				NearestTo(t["documents"].Rename("id", "document"), "embedding", 10, gpuframe.NearestOptions{}).
				Select("request", "document", "rank")
		},
	},
	{
		Name: "documents near to a request, by topic",
		SQL: `
select q.id, d.topic, count(*) as n
from requests q, documents d
where array_cosine_similarity(q.embedding, d.embedding) > 0.4
group by q.id, d.topic`,
		Go: func(t question.Tables) gpuframe.Query {
			similarity := embedding.CosineSimilarity(gpuframe.Col("embedding_right"))
			return t["requests"].Select("id", "embedding").
				Join(t["documents"].Select("topic", "embedding"), gpuframe.Cross).
				Filter(similarity.Gt(0.4)).
				GroupBy("id", "topic").Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "vectors by their length",
		SQL: `
select topic, count(*) as n
from documents
where sqrt(array_inner_product(embedding, embedding)) > 8
group by topic`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["documents"].
				Filter(embedding.Norm().Gt(8)).
				GroupBy("topic").Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "projection on a vector",
		SQL: `
select topic, count(*) as n
from documents
where list_inner_product(embedding[1:4], [0.5, -0.5, 0.5, -0.5]) > 1
group by topic`,
		Go: func(t question.Tables) gpuframe.Query {
			projection := embedding.ListSlice(0, 4).Dot([]float64{0.5, -0.5, 0.5, -0.5})
			return t["documents"].
				Filter(projection.Gt(1)).
				GroupBy("topic").Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "mean vector of each topic",
		SQL: `
select topic, place - 1 as place, avg(element) as mean
from (select topic, unnest(embedding::float[]) as element, generate_subscripts(embedding::float[], 1) as place from documents)
group by topic, place`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["documents"].
				ExplodeWith(gpuframe.ExplodeOptions{Position: "place"}, "embedding").
				GroupBy("topic", "place").Agg(embedding.Mean().As("mean"))
		},
	},
	{
		Name: "topics of requests by the nearest mean vector",
		SQL: `
with elements as (select topic, unnest(embedding::float[]) as element, generate_subscripts(embedding::float[], 1) as place from documents),
places as (select topic, place, avg(element) as mean from elements group by topic, place),
centres as (select topic as nearest, list(mean order by place)::float[32] as centre from places group by topic)
select id, topic, arg_min(nearest, array_distance(embedding, centre)) as nearest
from requests, centres
group by id, topic`,
		Go: func(t question.Tables) gpuframe.Query {
			centres := t["documents"].
				ExplodeWith(gpuframe.ExplodeOptions{Position: "place"}, "embedding").
				GroupBy("topic", "place").Agg(embedding.Mean()).
				GroupBy(topic.As("nearest")).Agg(embedding.List().OrderBy("place").As("centre"))
			return t["requests"].
				NearestTo(centres, gpuframe.On("embedding", "centre"), 1, gpuframe.NearestOptions{}).
				Select("id", "topic", "nearest")
		},
	},
}
