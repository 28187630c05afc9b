package main

import (
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

type scenario struct {
	name  string
	write func(*writer) error
}

// scenarios are the tables.
var scenarios = []scenario{
	{"positions", func(w *writer) error {
		return w.deletes(iceberg.Properties{"format-version": "2", "write.delete.mode": "merge-on-read"})
	}},
	{"vectors", func(w *writer) error {
		return w.deletes(iceberg.Properties{"format-version": "3", "write.delete.mode": "merge-on-read"})
	}},
	{"rewritten", func(w *writer) error { return w.deletes(iceberg.Properties{"format-version": "1"}) }},
	{"equality", (*writer).equality},
	{"evolution", (*writer).evolution},
	{"partitions", (*writer).partitions},
}

func sales() *iceberg.Schema {
	return iceberg.NewSchema(0,
		iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Required: true},
		iceberg.NestedField{ID: 2, Name: "city", Type: iceberg.PrimitiveTypes.String},
		iceberg.NestedField{ID: 3, Name: "qty", Type: iceberg.PrimitiveTypes.Int32},
		iceberg.NestedField{ID: 4, Name: "price", Type: iceberg.PrimitiveTypes.Float32},
		iceberg.NestedField{ID: 5, Name: "at", Type: iceberg.PrimitiveTypes.Timestamp},
	)
}

const (
	firstRows = `[{"id": 1, "city": "Oslo", "qty": 10, "price": 1.5, "at": "2024-02-29T10:00:00"}, {"id": 2, "city": "Rome", "qty": null, "price": 2.5, "at": "2024-02-29T23:59:59.999999"},
		{"id": 3, "city": null, "qty": 30, "price": null, "at": null}, {"id": 10, "city": "Oslo", "qty": 7, "price": 0.25, "at": "1969-12-31T23:00:00"}]`
	secondRows = `[{"id": 4, "city": "Oslo", "qty": 40, "price": 4.5, "at": "2024-03-01T00:00:00"}, {"id": 5, "city": "Bern", "qty": 50, "price": 5.5, "at": "2025-01-01T00:00:00"},
		{"id": 6, "city": "Osaka", "qty": 60, "price": -1, "at": "2025-01-01T00:00:01"}]`
)

func (w *writer) deletes(properties iceberg.Properties) error {
	w.create(sales(), nil, properties)
	w.append(firstRows)
	w.append(secondRows)
	w.delete(iceberg.EqualTo(iceberg.Reference("city"), "Oslo"))
	w.append(firstRows)
	w.delete(iceberg.LessThan(iceberg.Reference("id"), int64(3)))
	return w.err
}

func (w *writer) equality() error {
	w.create(sales(), nil, iceberg.Properties{"format-version": "2"})
	w.append(firstRows)
	w.deleteEqual([]int{2}, `[{"city": null}, {"city": "Bern"}]`)
	w.append(secondRows)
	w.deleteEqual([]int{2, 3}, `[{"city": "Oslo", "qty": 10}, {"city": "Oslo", "qty": null}, {"city": "Rome", "qty": null}, {"city": "Osaka", "qty": 60}]`)
	w.append(firstRows)
	w.deleteEqual([]int{1}, `[{"id": 4}, {"id": 10}]`)
	return w.err
}

func (w *writer) evolution() error {
	person := &iceberg.StructType{FieldList: []iceberg.NestedField{
		{ID: 21, Name: "name", Type: iceberg.PrimitiveTypes.String}, {ID: 22, Name: "age", Type: iceberg.PrimitiveTypes.Int32},
	}}
	w.create(iceberg.NewSchema(0,
		iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Required: true},
		iceberg.NestedField{ID: 2, Name: "person", Type: person},
		iceberg.NestedField{ID: 3, Name: "tags", Type: &iceberg.ListType{ElementID: 31, Element: iceberg.PrimitiveTypes.Int32}},
		iceberg.NestedField{ID: 4, Name: "notes", Type: &iceberg.MapType{KeyID: 41, KeyType: iceberg.PrimitiveTypes.String, ValueID: 42, ValueType: iceberg.PrimitiveTypes.String}},
		iceberg.NestedField{ID: 5, Name: "price", Type: iceberg.PrimitiveTypes.Float32},
		iceberg.NestedField{ID: 6, Name: "cost", Type: iceberg.DecimalTypeOf(7, 2)},
		iceberg.NestedField{ID: 7, Name: "day", Type: iceberg.PrimitiveTypes.Date},
	), nil, iceberg.Properties{"format-version": "3"})
	w.append(`[{"id": 1, "person": {"name": "Ann", "age": 30}, "tags": [1, 2], "notes": [{"key": "k", "value": "v"}], "price": 1.5, "cost": "1.25", "day": "2024-02-29"},
		{"id": 2, "person": null, "tags": null, "notes": null, "price": null, "cost": null, "day": null}, {"id": 3, "person": {"name": null, "age": null}, "tags": [], "notes": [], "price": 0, "cost": "0", "day": "1970-01-01"}]`)
	wide := func(t iceberg.Type) table.ColumnUpdate {
		return table.ColumnUpdate{FieldType: iceberg.Optional[iceberg.Type]{Val: t, Valid: true}}
	}
	w.evolve(func(update *table.UpdateSchema) {
		update.RenameColumn([]string{"person"}, "who").RenameColumn([]string{"person", "age"}, "years").
			UpdateColumn([]string{"price"}, wide(iceberg.PrimitiveTypes.Float64)).UpdateColumn([]string{"cost"}, wide(iceberg.DecimalTypeOf(20, 2))).
			DeleteColumn([]string{"notes"}).AddColumn([]string{"person", "email"}, iceberg.PrimitiveTypes.String, "", false, nil).
			AddColumn([]string{"level"}, iceberg.PrimitiveTypes.Int32, "", false, iceberg.Int32Literal(5)).MoveFirst([]string{"price"})
	})
	w.append(`[{"price": 0.1, "id": 4, "who": {"name": "Bo", "years": 7, "email": "b@x"}, "tags": [3], "cost": "123456789012345678.25", "day": "2025-01-01", "level": null}]`)
	return w.err
}

func (w *writer) partitions() error {
	spec := iceberg.NewPartitionSpec(
		iceberg.PartitionField{SourceIDs: []int{5}, FieldID: 1000, Transform: iceberg.DayTransform{}, Name: "at_day"},
		iceberg.PartitionField{SourceIDs: []int{2}, FieldID: 1001, Transform: iceberg.TruncateTransform{Width: 2}, Name: "city_trunc"},
		iceberg.PartitionField{SourceIDs: []int{1}, FieldID: 1002, Transform: iceberg.BucketTransform{NumBuckets: 4}, Name: "id_bucket"},
	)
	w.create(sales(), &spec, iceberg.Properties{"format-version": "2", "write.delete.mode": "merge-on-read"})
	w.append(firstRows)
	w.append(secondRows)
	if w.err != nil {
		return w.err
	}
	tx := w.table.NewTransaction()
	if w.err = tx.UpdateSpec(true).RemoveField("city_trunc").AddIdentity("city").Commit(); w.err != nil {
		return w.err
	}
	if w.table, w.err = tx.Commit(w.ctx); w.err != nil {
		return w.err
	}
	w.append(firstRows)
	w.delete(iceberg.EqualTo(iceberg.Reference("city"), "Oslo"))
	w.delete(iceberg.GreaterThan(iceberg.Reference("qty"), int32(55)))
	return w.err
}
