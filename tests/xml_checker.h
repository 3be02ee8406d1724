// Is a text well-formed XML? As far as our SVG files use it: no comments, no CDATA, no document type.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace flotsam {

class XmlChecker {
  public:
    explicit XmlChecker(std::string_view text) : text_(text) {
        if (text_.starts_with("<?xml")) at_ = text_.find("?>") + 2;
        while (problem_.empty() && at_ < text_.size()) text_[at_] == '<' ? read_tag() : read_text();
        if (problem_.empty() && !open_.empty()) fail("never closed: " + open_.back());
        if (problem_.empty() && roots_ != 1) fail("there must be one root");
    }
    const std::string& problem() const { return problem_; }  // empty when there is none

  private:
    void fail(const std::string& what) {
        if (problem_.empty())
            problem_ = what + " near '" + std::string(text_.substr(std::min(at_, text_.size()), 40)) + "'";
    }
    void skip_space() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    }
    std::string read_name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                      text_[at_] == '-' || text_[at_] == ':'))
            ++at_;
        if (at_ == begin) fail("a name is missing");
        return std::string(text_.substr(begin, at_ - begin));
    }
    bool take(char c) {
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    void read_tag() {
        ++at_;
        const bool closing = take('/');
        const std::string name = read_name();
        if (closing) {
            if (open_.empty() || open_.back() != name) return fail("closes what is not open: " + name);
            open_.pop_back();
            if (!take('>')) fail("a tag does not end");
            return;
        }
        if (open_.empty()) ++roots_;
        std::vector<std::string> seen;
        for (skip_space(); problem_.empty() && at_ < text_.size() && text_[at_] != '>' && text_[at_] != '/';
             skip_space()) {
            const std::string attribute = read_name();
            for (const std::string& other : seen)
                if (other == attribute) fail("twice: " + attribute);
            seen.push_back(attribute);
            if (!take('=') || !take('"')) return fail("an attribute has no value");
            while (problem_.empty() && at_ < text_.size() && text_[at_] != '"') read_character();
            if (!take('"')) fail("a value does not end");
        }
        const bool empty = take('/');
        if (!take('>')) return fail("a tag does not end");
        if (!empty) open_.push_back(name);
    }

    void read_text() {
        if (open_.empty() && !std::isspace(static_cast<unsigned char>(text_[at_])))
            return fail("text outside the root");
        read_character();
    }

    void read_character() {
        const auto c = static_cast<unsigned char>(text_[at_]);
        if (c == '<') return fail("a bare <");
        if (c < 0x20 && c != '\n' && c != '\t') return fail("a control character");
        if (c == '&') {
            for (const std::string_view entity : {"&amp;", "&lt;", "&gt;", "&quot;"})
                if (text_.substr(at_).starts_with(entity)) {
                    at_ += entity.size();
                    return;
                }
            return fail("a bare &");
        }
        int more = c < 0x80 ? 0 : c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc2 ? 1 : -1;
        if (more < 0) return fail("not UTF-8");
        for (++at_; more > 0; --more, ++at_)
            if (at_ >= text_.size() || (static_cast<unsigned char>(text_[at_]) & 0xc0) != 0x80)
                return fail("not UTF-8");
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<std::string> open_;
    int roots_ = 0;
    std::string problem_;
};

inline std::string xml_problem(std::string_view text) { return XmlChecker(text).problem(); }

}  // namespace flotsam
