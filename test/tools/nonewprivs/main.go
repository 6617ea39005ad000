// Command nonewprivs is what the end-to-end suite's image of that name runs, setuid root: it tells as whom it runs.
package main

import (
	"fmt"
	"os"
)

func main() { fmt.Printf("Effective uid: %d\n", os.Geteuid()) }
