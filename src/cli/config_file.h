// --config FILE: the options of a subcommand, read from a file.
//
//   temperature = 0.7          for whichever subcommand is chosen
//   [serve]
//   port = 8080                for `serve` alone
//
// Keys are the options' names without the dashes; what the command line says wins; an unknown key is an error.
#pragma once

namespace CLI {
class App;
}

namespace genai::cli {

void add_config_file(CLI::App& program);  // after its subcommands

}  // namespace genai::cli
