package site

// A Preview is what the pages of a folder that is not published say to its author.
type Preview struct {
	// Script is the path of the script that reloads the page when the folder changes.
	Script string
	// Warnings are about the folder: the first of those that say the same.
	Warnings []string
	// Found is how many there are.
	Found int
}
