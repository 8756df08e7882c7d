# From `iotrace --help`: one line per command, "NAME SUMMARY".
/^[A-Z][a-z]*:$/ { inside = ($0 == "Subcommands:"); next }
inside && /^  [a-z]/ { name = $1; sub(/^  [^ ]+ +/, ""); print name, $0 }
