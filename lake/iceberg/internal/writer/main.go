// Command writer writes tables of Iceberg by iceberg-go, and the rows that the scan of iceberg-go reads of every snapshot, for
// the tests of package iceberg. It is a separate program because iceberg-go needs arrow-go v18: its assembly does not link with
// that of v17.
//
//	go run . FOLDER
//	go run . read FOLDER NAME
//
// The second form prints the rows of the current snapshot of the table FOLDER/go/NAME, which package iceberg has written, and
// with the words bounds and partitions those of its files.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"
)

func main() {
	if len(os.Args) == 4 {
		show := map[string]func(ctx context.Context, folder, name string) error{"read": printRows, "bounds": printBounds, "partitions": printPartitions}[os.Args[1]]
		if show == nil {
			show = printRows
		}
		if err := show(context.Background(), os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "writer:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: writer FOLDER")
		os.Exit(2)
	}
	if err := writeAll(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "writer:", err)
		os.Exit(1)
	}
}

// writeAll writes the tables of all scenarios.
func writeAll(ctx context.Context, folder string) error {
	tables, err := hadoop.NewCatalog("test", folder, nil)
	if err != nil {
		return err
	}
	if err := tables.CreateNamespace(ctx, table.Identifier{"go"}, nil); err != nil {
		return err
	}
	for _, each := range scenarios {
		w := &writer{ctx: ctx, tables: tables, folder: folder, name: each.name}
		if err := each.write(w); err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
	}
	return nil
}
