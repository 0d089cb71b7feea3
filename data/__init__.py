"""Facts shipped with envfold: tables, each with a README of sources, columns, units and caveats."""
