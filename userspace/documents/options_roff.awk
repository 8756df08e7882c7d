# Options as help_options.awk prints them, for man(7).
# A line of input that starts with . or ' would be a command of roff.
function protected(text, lines, count, i, all) {
  count = split(text, lines, "\n")
  for (i = 1; i <= count; ++i) all = all (i > 1 ? "\n" : "") (lines[i] ~ /^[.']/ ? "\\&" : "") lines[i]
  return all
}
BEGIN { FS = "\t" }
$1 ~ /--help/ { next }  # stands at the top of the page
{
  gsub(/\\/, "\\e"); gsub(/-/, "\\-")
  gsub(/,/, "\\fR, \\fB", $1)
  if ($2) $2 = " \\fI" ($2 == "TEXT" ? "VALUE" : "NUMBER") "\\fR"
  print ".TP\n\\fB" $1 "\\fR" $2
  gsub(/[.:;] /, "&\n", $3)  # a sentence or a part of it ends a line of input
  gsub(/ \n/, "\n", $3)
  $3 = protected($3)
  print $3 ($3 ~ /[.!?]$/ ? "" : ".")
}
