"""The encoders: what they are (`config`), how text enters (`tokens`), how vectors leave (`encoder`).

`network`, `passages`, `packed`, `device`, `questions`, `adapted`, `restore`, `checkpoint`, `export` and `original`
need torch (the extra `train`); everything else does not.
"""
