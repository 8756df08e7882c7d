# From `iotrace COMMAND --help`: one line per option or positional, tabs between its fields:
#   names, comma-separated ("-o,--output", or "record")   what it takes ("TEXT", or nothing)   its help
/^[A-Z][a-z]*:$/ { inside = ($0 == "Options:" || $0 == "Positionals:"); next }
inside && /^  [^ ]/ {
  line = substr($0, 3)
  match(line, /^[^ ]+/)
  names = substr(line, 1, RLENGTH)
  gsub(/\{[^}]*\}/, "", names)  # --no-follow{false}
  line = substr(line, RLENGTH + 1)
  value = ""
  if (match(line, /^ (TEXT|FLOAT|INT|UINT)(:[^ ]+)?( REQUIRED)?( \.\.\.)?/)) {
    split(substr(line, 2, RLENGTH - 1), words, " ")
    value = words[1]
    line = substr(line, RLENGTH + 1)
  }
  sub(/^ +/, "", line)
  print names "\t" value "\t" line
}
