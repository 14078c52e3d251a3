// fairgate is a terminal lab for rate limiters: it attacks one with several clients and shows who got the
// capacity and who was starved.
package main

import (
	"os"

	"fairgate/tui/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
