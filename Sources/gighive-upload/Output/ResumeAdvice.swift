/// How a person resumes an upload that failed.
struct ResumeAdvice {
  let words: String
  let command: String
}
