#include "cli/input/documentation.h"

#include <fmt/format.h>
#include <sstream>
#include <vector>

#include <CLI/CLI.hpp>

namespace wm::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Options that --help lists.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

// Text for troff: backslashes and minus signs are escaped, and a line must not begin with a dot or a quote.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

void append_options(std::string& page, const CLI::App& app) {
  for (const CLI::Option* option : options_of(app)) {
    const std::string type = option->get_type_size() == 0 ? "" : " " + option->get_type_name();
    page += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", escaped(option->get_name(option->get_positional())), escaped(type),
                        escaped(option->get_description()));
  }
}

void append_command(std::string& page, const CLI::App& app, const std::string& name) {
  page += fmt::format(".SS {}\n{}.\n", escaped(name), escaped(app.get_description()));
  append_options(page, app);
  if (const std::string examples = app.get_footer(); !examples.empty()) {
    page += fmt::format(".PP\n.nf\n{}\n.fi\n", escaped(examples));
  }
  for (const CLI::App* below : commands_of(app)) append_command(page, *below, name + " " + below->get_name());
}

// One line of the script's table: "wm lab run|--slurm --jobs …".
void append_words(std::string& table, const CLI::App& app, const std::string& path) {
  table += "    \"" + path + "\") words=\"";
  for (const CLI::App* below : commands_of(app)) table += below->get_name() + " ";
  for (const CLI::Option* option : options_of(app)) {
    for (const std::string& name : option->get_lnames()) table += "--" + name + " ";
  }
  table += "\" ;;\n";
  for (const CLI::App* below : commands_of(app)) append_words(table, *below, path + " " + below->get_name());
}

// The names of commands, so that the script finds how deep a command line is.
void append_paths(std::string& table, const CLI::App& app, const std::string& path) {
  for (const CLI::App* below : commands_of(app)) {
    const std::string name = path + " " + below->get_name();
    table += "|\"" + name + "\"";
    append_paths(table, *below, name);
  }
}

}  // namespace

std::string man_page(const CLI::App& app, const std::string& version) {
  std::string page = fmt::format(".TH WM 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\nwm \\- {}\n", escaped(version),
                                 escaped(app.get_description()));
  page += ".SH SYNOPSIS\n\\fBwm\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n";
  page += ".SH DESCRIPTION\nBad input is answered with one line on standard error and exit status 2.\n.SH COMMANDS\n";
  for (const CLI::App* below : commands_of(app)) append_command(page, *below, "wm " + below->get_name());
  page += ".SH EXIT STATUS\n0: done; 1: something that was checked did not pass; 2: bad input.\n";
  return page;
}

std::string bash_completion(const CLI::App& app) {
  std::string words, paths;
  append_words(words, app, "wm");
  append_paths(paths, app, "wm");
  return fmt::format(R"(# Completion of wm for bash, written by `wm completion bash`.
_wm_names() {{
  wm "$@" --json - 2>/dev/null | grep -o '"name": *"[^"]*"' | cut -d'"' -f4 | sort -u
}}
_wm() {{
  local path=wm word words previous="${{COMP_WORDS[COMP_CWORD-1]}}" current="${{COMP_WORDS[COMP_CWORD]}}" i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word="$path ${{COMP_WORDS[i]}}"
    case "$word" in
      {}) path="$word" ;;
    esac
  done
  [[ "$previous" != = ]] || previous="${{COMP_WORDS[COMP_CWORD-2]}}"  # --policy=NAME
  [[ "$current" != = ]] || {{ previous="${{COMP_WORDS[COMP_CWORD-1]}}" current=; }}
  case "$path" in
{}  esac
  case "$previous" in
    --policy) words=$(_wm_names policies) ;;
    --kernel) words=$(_wm_names kernels) ;;
    --gpu|--simulate) words=$(_wm_names gpus) ;;
    *) case "$path" in
      "wm policy"|"wm policies") words+=$(_wm_names policies) ;;
      "wm kernels"|"wm kernels check") words+=$(_wm_names kernels) ;;
      "wm gpus") words+=$(_wm_names gpus) ;;
      "wm lab "[lrs]*) words+=$(_wm_names lab list) ;;
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ -n "${{COMPREPLY[*]}}" ]] || COMPREPLY=($(compgen -f -- "$current"))
}}
complete -F _wm wm
)",
                     paths.substr(1), words);
}

}  // namespace wm::cli
