package spill_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

func Example() {
	if err := sixTablesInTheRoomOfTwo(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 4 of 6 tables spilled, 32 KiB of 1.0 MiB on the host; 4 spills of 32 KiB, 0 restores of 0 B
	// table 0 has 1024 rows on the device
	// 4 of 6 tables spilled, 32 KiB of 1.0 MiB on the host; 5 spills of 40 KiB, 1 restores of 8.0 KiB
}

func sixTablesInTheRoomOfTwo() (err error) {
	ctx := context.Background()
	dev, err := device.Open("host") // "" for the first GPU
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	mgr, err := memory.NewManager(dev, memory.Options{Budget: 2 * 8192})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mgr.Close()) }()
	spiller, err := spill.NewSpiller(mgr, spill.Options{HostBudget: 1 << 20})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spiller.Close()) }()

	var tables []*spill.Table
	for i := range int64(6) {
		loaded, err := buffer.FromRecord(mgr, numbers(1024, i)) // spills other tables
		if err != nil {
			return err
		}
		table, err := spiller.Add(loaded)
		if err != nil {
			return errors.Join(err, loaded.Release())
		}
		defer table.Release()
		tables = append(tables, table)
	}
	fmt.Println(spiller.Stats())

	first, err := tables[0].Acquire(ctx) // restores it
	if err != nil {
		return err
	}
	defer first.Release()
	rows, err := first.NumRows(ctx)
	if err != nil {
		return err
	}
	fmt.Println("table 0 has", rows, "rows on the device")
	fmt.Println(spiller.Stats())
	return nil
}
